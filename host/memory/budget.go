package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// callerQuota contains two quotas: the quota of the app, and the quota of the caller's user.
// callerQuota applies to writes of host records.
type callerQuota struct {
	s      *Service
	caller partition.Caller
}

// quota returns the quota of a caller.
func (s *Service) quota(c partition.Caller) txn.Quota { return &callerQuota{s: s, caller: c} }

// Budget implements txn.Quota.
func (q *callerQuota) Budget() storage.Budget { return q.s.budget(q.caller) }

// Reclaim implements txn.Quota.
func (q *callerQuota) Reclaim(ctx context.Context) bool { return reclaim(ctx, q.s, q.caller) }
