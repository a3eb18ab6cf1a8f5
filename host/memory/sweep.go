package memory

import (
	"context"
	"time"

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
		return n, s.hostFault("sweep", err)
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
	if err := s.trimLedger(ctx, tenant); err != nil {
		return s.hostFault("trim the ledger", err)
	}
	c, at := Caller{Tenant: tenant}, s.now().Add(-SweepDelay)
	if err := s.sweepUploads(ctx, c, at); err != nil {
		return s.hostFault("sweep uploads", err)
	}
	err := s.scanHeads(ctx, s.system(systemSession, c), func(sessions []storage.Head) error {
		for _, h := range sessions {
			if err := s.sweepSession(ctx, c, h.Record, at); err != nil {
				return err
			}
		}
		return nil
	})
	return s.hostFault("sweep", err)
}

// sweepSession ends a session that was found idle, unless it has been used since, and frees what a session left
// that ended lately: whoever ended it may have died before that was done.
func (s *Service) sweepSession(ctx context.Context, c Caller, found storage.Record, at time.Time) error {
	c.Session = found.Key.Part(storage.Session)
	ended := !found.Expires.IsZero()
	switch {
	case ended && found.Updated.After(at):
		return s.dropEnded(ctx, c)
	case ended || at.Before(s.idleEnd(found)):
		return nil
	}
	return s.endSession(ctx, c, &found)
}

// Tenants calls visit with each tenant that has sessions of the app, or a ledger: those that SweepTenant is for.
// It takes a look at the backend for each tenant, and one for each app that a tenant has besides.
func (s *Service) Tenants(ctx context.Context, visit func(tenant string) error) error {
	seen := map[string]bool{}
	for _, kind := range []string{systemSession, systemLedger} {
		if err := s.eachTenant(ctx, kind, seen, visit); err != nil {
			return s.hostFault("list tenants", err)
		}
	}
	return nil
}

// eachTenant calls visit with the tenants that have records of a kind and are not in seen.
func (s *Service) eachTenant(ctx context.Context, kind string, seen map[string]bool, visit func(string) error) error {
	prefix := storage.MakeKey(storage.Part{Tag: storage.System, Value: kind})
	for after := storage.Key(""); ; {
		next, err := s.backend.Heads(ctx, prefix, after, 1)
		if err != nil || len(next) == 0 {
			return err
		}
		key := next[0].Key
		tenant, group := key.Tenant(), prefix.With(storage.Part{Tag: storage.Tenant, Value: key.Tenant()}, storage.Part{Tag: storage.App, Value: key.Part(storage.App)})
		if key.Part(storage.App) == s.app && !seen[tenant] {
			seen[tenant] = true
			if err := visit(tenant); err != nil {
				return err
			}
		}
		after = group + "\xff" // behind all records of this tenant and app
	}
}
