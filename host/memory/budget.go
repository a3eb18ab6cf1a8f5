package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// callerQuota is the quota of the app and of a caller's user, for the host's own records.
type callerQuota struct {
	s       *Service
	caller  partition.Caller
	account *account
	full    error // of the backend; nil if it has room
}

var _ records.Quota = (*callerQuota)(nil)

// quota returns the quota of a caller.
func (s *Service) quota(c partition.Caller) records.Quota {
	return &callerQuota{s: s, caller: c, account: s.account(c), full: s.noRoom()}
}

// Keys implements txn.Budget.
func (q *callerQuota) Keys() []storage.Key { return q.account.keys }

// Check implements txn.Budget.
func (q *callerQuota) Check(held []storage.Record, changes []storage.Change) error {
	return q.s.checkChanges(q.account, q.full, held, changes)
}

// Reclaim implements txn.Budget.
func (q *callerQuota) Reclaim(ctx context.Context) bool { return q.s.reclaim(ctx, q.caller) }

// Room implements records.Quota.
func (q *callerQuota) Room(held []storage.Record, bytes int64) error {
	if q.full != nil {
		return q.full
	}
	now, err := decodeHoldings(held)
	if err != nil {
		return err
	}
	more := storage.Usage{Bytes: bytes}
	return q.s.overQuota(now, holdings{app: more, user: more})
}

// checkChanges refuses changes for which an account or the backend has no room. The records are those under the keys of the
// account, and full is the backend's refusal, nil if it has room.
func (s *Service) checkChanges(a *account, full error, records []storage.Record, changes []storage.Change) error {
	held, err := decodeHoldings(records)
	if err != nil {
		return err
	}
	var grown holdings
	for _, c := range changes {
		grown.add(a, c)
	}
	if grown.app.Bytes > 0 && full != nil {
		return full
	}
	return s.overQuota(held, grown)
}
