package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// budget is what the accounts of a caller may hold: that of the app in the tenant, and that of the user in the app, which a
// caller without a user and without a session does not have.
func (s *Service) budget(c partition.Caller) storage.Budget {
	app := s.app.Group(c)
	b := storage.Budget{App: storage.Limit{Account: app, Max: storage.Usage{Records: s.limits.AppRecords, Bytes: s.limits.AppBytes}}}
	if who := c.Subject(); who != "" {
		b.User = storage.Limit{Account: storage.UserAccount(app, who), Max: storage.Usage{Records: s.limits.UserRecords, Bytes: s.limits.UserBytes}}
	}
	return b
}

// budget is the budget of the transaction's caller.
func (t *transaction) budget() storage.Budget {
	if t.limits == (storage.Budget{}) {
		t.limits = t.s.budget(t.tx.Caller)
	}
	return t.limits
}

// checkQuota refuses a record under key that would make the app or the user hold more than they may. What they hold is not
// state: it is looked at, not depended on.
func (v *View) checkQuota(key storage.Key, record storage.Record) error {
	record.Key, record.Revision = key, 1
	if v.fitsAnyhow(record) {
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
	return v.s.records.SpaceFault(v.run.budget().Check(&growth, v.held))
}

// fitsAnyhow reports whether there is room for the record even if every write so far only added to what is stored. It saves
// a look at all writes at each of them.
func (v *View) fitsAnyhow(record storage.Record) bool {
	v.written = v.written.Plus(storage.UsageOf(storage.HeadOf(record)))
	b := v.run.budget()
	if !holds(b.App.Max, v.usage[0].Plus(v.written)) {
		return false
	}
	return len(v.usage) == 1 || holds(b.User.Max, v.usage[1].Plus(v.written))
}

// holds reports whether a limit allows a usage; 0 is no limit.
func holds(limit, u storage.Usage) bool {
	return (limit.Records == 0 || u.Records <= limit.Records) && (limit.Bytes == 0 || u.Bytes <= limit.Bytes)
}

// held returns what an account of the caller held when the attempt first looked.
func (v *View) held(account storage.Key) (storage.Usage, error) {
	if account == v.run.limits.App.Account {
		return v.usage[0], nil
	}
	return v.usage[len(v.usage)-1], nil
}

// change is the change that a write makes to what is stored.
func (v *View) change(stored, next storage.Record) storage.Change {
	if v.run.reclaimed && stored.Expired(v.s.now()) {
		stored = storage.Record{} // it takes no room any more
	}
	return storage.Change{Old: storage.HeadOf(stored), Write: storage.Write{Record: next, Delete: !next.Exists()}}
}

// readUsage reads what the accounts of the caller hold, once an attempt.
func (v *View) readUsage(ctx context.Context) (err error) {
	if v.usage == nil {
		v.usage, err = v.s.backend.Usage(ctx, v.run.budget().Accounts()...)
	}
	return err
}

// mayReclaim reports whether a call over quota may free what has expired: once a transaction. A dry run frees nothing.
func (v *View) mayReclaim() bool { return !v.run.reclaimed && !v.run.tx.DryRun }

// reclaim frees what has expired. If the attempt depends on a record that is freed, it is executed again.
func (v *View) reclaim(ctx context.Context) error {
	v.run.reclaimed = true
	if !reclaim(ctx, v.s, v.caller) {
		return nil
	}
	v.usage = nil
	return v.readUsage(ctx)
}

// reclaimed is how many expired records one reclaim frees.
const reclaimed = 1000

// reclaim frees records of the app that have expired, for a caller whose quota is full, and reports whether
// there were any. A sweep leaves them for an hour more, in case the clock runs ahead; but a write may have
// their room at once, as it may take the place of an expired record. It looks at a bounded number of records,
// and a transaction reclaims once for its calls and once for its commit.
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

// maxClockJump is how far the clock may have been set since the Service began for reclaims to go by it.
const maxClockJump = 5 * time.Minute

// clockMoved reports whether the clock was set between two of its times, as far as the system's monotonic clock shows:
// records that would have expired by it must not be lost to a mistake.
func clockMoved(began, now time.Time) bool {
	jump := now.Round(0).Sub(began.Round(0)) - now.Sub(began)
	return jump.Abs() > maxClockJump
}
