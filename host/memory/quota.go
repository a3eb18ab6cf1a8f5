package memory

import (
	"context"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// budget returns the limits that apply to a caller. One part limits the app in the tenant, and the
// other part limits the user in the app. If a caller has neither a user nor a session, only the
// limits for the app apply. The data that several apps of the tenant share have the same limits as
// the app.
func (s *Service) budget(c partition.Caller) storage.Budget {
	app := s.app.Group(c)
	b := storage.Budget{App: storage.Limit{Account: app, Max: storage.Usage{Records: s.limits.AppRecords, Bytes: s.limits.AppBytes}}}
	if who := c.Subject(); who != "" {
		b.User = storage.Limit{Account: storage.UserAccount(app, who), Max: storage.Usage{Records: s.limits.UserRecords, Bytes: s.limits.UserBytes}}
	}
	if s.shared {
		b.Shared = storage.Limit{Account: partition.Shared.Group(c), Max: b.App.Max}
	}
	return b
}

// budget returns the budget of the caller of the transaction.
func (t *transaction) budget() storage.Budget {
	if t.limits == (storage.Budget{}) && !t.tx.Unlimited {
		t.limits = t.s.budget(t.tx.Caller)
	}
	return t.limits
}

// checkQuota checks the quota of the app and the quota of the user. checkQuota returns a fault if a
// write of the record would exceed one of them. The usage is not in the read set, so a change of
// the usage does not cause a conflict.
func (v *View) checkQuota(key storage.Key, next *txn.State) error {
	record := storage.Record{Key: key, Content: next.Content, Expires: next.Expires, Tags: next.Tags, Revision: 1}
	if v.fitsAsAddition(record) {
		return nil
	}
	var growth storage.Growth
	growth.AddChange(v.change(v.tx.Stored(key), record))
	v.tx.Writes(func(stored, next storage.Record) bool {
		if next.Key != key && stored.Key != key {
			growth.AddChange(v.change(stored, next))
		}
		return true
	})
	return v.s.records.SpaceFault(v.run.budget().Check(&growth, v.accountUsage))
}

// fitsAsAddition counts each earlier write of the attempt as a new record. fitsAsAddition reports
// whether the record then fits within the quota. If fitsAsAddition returns true, the exact check of
// all writes is not necessary.
func (v *View) fitsAsAddition(record storage.Record) bool {
	countWrite(v, record)
	i := 0
	for _, l := range limitsOf(v.run.budget()) {
		if l.Account == "" {
			continue
		}
		if !holds(l.Max, v.usage[i].Plus(v.written)) {
			return false
		}
		i++
	}
	return true
}

// countWrite updates the sum for fitsAsAddition. countWrite counts the write as if it added a new
// record.
func countWrite(v *View, record storage.Record) {
	record.Revision = max(record.Revision, 1)
	v.written = v.written.Plus(storage.UsageOf(storage.HeadOf(record)))
}

// limitsOf returns the limits of a budget in the order of the budget's accounts. If the budget has
// no account for a limit, the limit does not apply.
func limitsOf(b storage.Budget) [3]storage.Limit {
	return [...]storage.Limit{b.App, b.User, b.Shared}
}

// holds reports whether a usage is within a limit. If the limit is 0, the usage is not limited.
func holds(limit, u storage.Usage) bool {
	return (limit.Records == 0 || u.Records <= limit.Records) && (limit.Bytes == 0 || u.Bytes <= limit.Bytes)
}

// accountUsage returns the usage of an account of the caller. An attempt reads the usage of an
// account only once.
func (v *View) accountUsage(account storage.Key) (storage.Usage, error) {
	return v.usage[slices.Index(v.run.limits.Accounts(), account)], nil
}

// change describes a write as a storage.Change. The write replaces the record "stored" with the
// record "next".
func (v *View) change(stored, next storage.Record) storage.Change {
	if v.run.reclaimed && stored.Expired(v.s.now()) {
		stored = storage.Record{} // a reclaim removed the record to free its space
	}
	return storage.Change{Old: storage.HeadOf(stored), Write: storage.Write{Record: next, Delete: !next.Exists()}}
}

// readUsage reads the usage of the caller's accounts. Each attempt reads the usage only once.
func (v *View) readUsage(ctx context.Context) (err error) {
	if v.usage == nil {
		v.usage, err = v.s.backend.Usage(ctx, v.run.budget().Accounts()...)
	}
	return err
}

// canReclaim is called if a call exceeds the quota. canReclaim reports whether expired records may
// be removed to free space. Within a transaction, calls can free expired records only once. A dry
// run cannot free expired records.
func (v *View) canReclaim() bool { return !v.run.reclaimed && !v.run.tx.DryRun }

// reclaim frees expired records. If the reclaim removes a record that the attempt has read, the
// attempt is executed again.
func (v *View) reclaim(ctx context.Context) error {
	v.run.reclaimed = true
	if !reclaim(ctx, v.s, v.caller) {
		return nil
	}
	v.usage = nil
	return v.readUsage(ctx)
}

// reclaimed is the maximum number of expired records that one call of the function "reclaim"
// removes.
const reclaimed = 1000

// reclaim removes expired records of the app. reclaim is called if a caller's quota is exhausted,
// and reports whether it removed records. Each call of the function removes a limited number of
// records. A transaction calls the function at most twice: once for the calls of the guest, and
// once for the commit.
//
// The clock of the host can be ahead. Therefore a sweep removes a record only one hour after the
// expiry. reclaim does not need this delay, because a write can replace an expired record at once.
func reclaim(ctx context.Context, s *Service, c partition.Caller) bool {
	if clockMoved(s.began, s.clock()) {
		return false
	}
	removed, err := s.backend.DeleteWhere(ctx, storage.Selector{Group: s.app.Group(c), Expired: s.now()}, reclaimed)
	if err != nil {
		s.log.Error("the backend failed", "doing", "reclaim expired records", "error", err)
	}
	return len(removed) > 0
}

// maxClockJump limits how far the system clock may have been set since the creation of the Service.
// If the clock was set further, the function "reclaim" removes no records.
const maxClockJump = 5 * time.Minute

// clockMoved reports whether someone set the system clock between two readings. For this,
// clockMoved compares the system clock with the monotonic clock. If the clock is wrong, records
// that have not expired must not be removed.
func clockMoved(began, now time.Time) bool {
	jump := now.Round(0).Sub(began.Round(0)) - now.Sub(began)
	return jump.Abs() > maxClockJump
}
