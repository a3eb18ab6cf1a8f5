package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// SweepDelay is how long after its end a record is freed. Expired records are invisible at once; waiting
// to free them keeps a clock that runs ahead from destroying what is alive.
const SweepDelay = time.Hour

// Sweep frees records whose lifetime ended more than an hour ago, of all tenants and apps of the backend, and then
// sweeps one tenant as SweepTenant does. It frees at most limit records a call, and returns how many; fewer than
// limit means that there are no more.
func (s *Service) Sweep(ctx context.Context, tenant string, limit int) (int, error) {
	n, err := FreeExpired(ctx, s.backend, s.now(), limit)
	if err != nil {
		return n, s.records.Fault("sweep", err)
	}
	return n, s.SweepTenant(ctx, tenant)
}

// FreeExpired frees up to limit records of a backend whose lifetime had ended SweepDelay before now, whatever they belong
// to, and returns how many. Fewer than limit means that there are no more.
func FreeExpired(ctx context.Context, backend storage.Backend, now time.Time, limit int) (int, error) {
	removed, err := backend.DeleteWhere(ctx, storage.Selector{Expired: now.Add(-SweepDelay)}, limit)
	return len(removed), err
}

// SweepTenant ends the sessions of a tenant that were not used for session_idle, and keeps the ledger within its
// bound. It works in bounded chunks.
func (s *Service) SweepTenant(ctx context.Context, tenant string) error {
	if err := s.ledger.Trim(ctx, tenant); err != nil {
		return s.records.Fault("trim the ledger", err)
	}
	at := s.now().Add(-SweepDelay)
	if err := s.artifacts.Sweep(ctx, tenant, at); err != nil {
		return err
	}
	return s.sessions.Sweep(ctx, tenant, at)
}

// Tenants calls visit with each tenant that has sessions of the app, or a ledger: those that SweepTenant is for.
// It takes a look at the backend for each tenant, and one for each app that a tenant has besides.
func (s *Service) Tenants(ctx context.Context, visit func(tenant string) error) error {
	seen := map[string]bool{}
	for _, kind := range []string{partition.Session, partition.Ledger} {
		if err := s.records.EachTenant(ctx, kind, seen, visit); err != nil {
			return s.records.Fault("list tenants", err)
		}
	}
	return nil
}
