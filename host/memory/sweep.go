package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/session"
	"github.com/toolrun/toolrun/host/storage"
)

// SweepDelay is the time between the expiry of a record and its removal by a sweep. Expired records
// become invisible immediately. Because of this delay, a sweep removes no live records even if the
// clock of the sweep is ahead.
const SweepDelay = time.Hour

// Sweep removes records that expired more than SweepDelay ago. Sweep removes records of all tenants
// and apps of the backend. Then Sweep calls SweepTenant for one tenant. Sweep removes at most
// "limit" records and returns the number of removed records. If the number of removed records is
// less than the limit, no expired records are left.
func (s *Service) Sweep(ctx context.Context, tenant string, limit int) (int, error) {
	n, err := FreeExpired(ctx, s.backend, s.now(), limit)
	if err != nil {
		return n, s.records.Fault("sweep", err)
	}
	return n, s.SweepTenant(ctx, tenant)
}

// FreeExpired removes those records of a backend that expired at least SweepDelay before the time
// "now". FreeExpired removes at most "limit" records and returns the number of removed records. If
// the number of removed records is less than the limit, no expired records are left.
func FreeExpired(ctx context.Context, backend storage.Backend, now time.Time, limit int) (int, error) {
	removed, err := backend.DeleteWhere(ctx, storage.Selector{Expired: now.Add(-SweepDelay)}, limit)
	return len(removed), err
}

// SweepTenant ends the idle sessions and workflows of a tenant, removes expired files, and removes
// the oldest ledger entries until the ledger does not exceed its limit. SweepTenant also ends
// expired approval requests. If an undeclared collection has no entries, SweepTenant removes the
// remaining records of the collection. SweepTenant reads and removes data in chunks of limited
// size.
func (s *Service) SweepTenant(ctx context.Context, tenant string) error {
	if err := s.ledger.Trim(ctx, tenant); err != nil {
		return s.records.Fault("trim the ledger", err)
	}
	at := s.now().Add(-SweepDelay)
	if err := s.artifacts.Sweep(ctx, tenant, at); err != nil {
		return err
	}
	if err := s.sessions.Sweep(ctx, tenant, at, boundedEnds(s.beforeIdleEnd)); err != nil {
		return err
	}
	if err := s.workflows.Sweep(ctx, tenant, at, nil); err != nil {
		return err
	}
	if err := expireApprovals(ctx, s, tenant); err != nil {
		return err
	}
	return releaseUndeclared(ctx, s, tenant)
}

// These constants limit the calls of Config.BeforeIdleEnd during one sweep of a tenant. If a limit
// is reached, the next sweep ends the remaining sessions. Therefore, one tenant cannot delay the
// sweeps of other tenants for long.
const (
	maxIdleEnds     = 100
	maxIdleEndsTime = 5 * time.Second
)

// boundedEnds returns a function that calls the function "before". The returned function obeys the
// limits of one sweep. If the function "before" is nil, boundedEnds returns nil.
func boundedEnds(before session.BeforeEnd) session.BeforeEnd {
	if before == nil {
		return nil
	}
	calls, began := 0, time.Now()
	return func(ctx context.Context, tenant, id string) bool {
		if calls++; calls > maxIdleEnds || time.Since(began) > maxIdleEndsTime || ctx.Err() != nil {
			return false
		}
		return before(ctx, tenant, id)
	}
}

// Tenants calls the function "visit" with each tenant that SweepTenant must sweep. SweepTenant must
// sweep a tenant that has sessions, workflows, ledger entries, paused runs or collections of the
// app. Tenants reads from the backend once for each tenant, and once more for each other app of a
// tenant.
func (s *Service) Tenants(ctx context.Context, visit func(tenant string) error) error {
	seen := map[string]bool{}
	for _, kind := range []string{partition.Session, partition.Workflow, partition.Ledger, partition.PausedRun, partition.Embedding} {
		if err := s.records.EachTenant(ctx, kind, seen, visit); err != nil {
			return s.records.Fault("list tenants", err)
		}
	}
	return nil
}
