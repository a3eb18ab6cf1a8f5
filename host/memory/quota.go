package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// holdings is the usage of an app in a tenant and of the caller's user in there.
type holdings struct{ app, user storage.Usage }

func (h holdings) plus(more holdings) holdings {
	return holdings{app: h.app.Plus(more.app), user: h.user.Plus(more.user)}
}

// account names what a caller's writes count for: the app in the tenant, and the user in there.
type account struct {
	app, user storage.Key // user is "" for a caller without one and without a session
	// keys are those of the records that hold the holdings.
	keys []storage.Key
}

func (s *Service) account(c partition.Caller) *account {
	a := &account{app: s.app.Group(c)}
	a.keys = []storage.Key{storage.UsageKey(a.app)}
	if who := c.Subject(); who != "" {
		a.user = storage.UserGroup(a.app, who)
		a.keys = append(a.keys, storage.UsageKey(a.user))
	}
	return a
}

// account returns the account of the transaction's caller.
func (t *transaction) account() *account {
	if t.accounted == nil {
		t.accounted = t.s.account(t.tx.Caller)
	}
	return t.accounted
}

// decodeHoldings reads what lies under usageKeys.
func decodeHoldings(records []storage.Record) (h holdings, err error) {
	if h.app, err = storage.DecodeUsage(records[0]); err != nil || len(records) == 1 {
		return h, err
	}
	h.user, err = storage.DecodeUsage(records[1])
	return h, err
}

// add adds what a change does to the holdings of an account.
func (h *holdings) add(a *account, change storage.Change) {
	change.Usage(func(group storage.Key, u storage.Usage) {
		switch group {
		case a.app:
			h.app = h.app.Plus(u)
		case a.user:
			h.user = h.user.Plus(u)
		}
	})
}

// overQuota refuses holdings over the limits, but never a change that makes them smaller.
func (s *Service) overQuota(held, grown holdings) error {
	after := held.plus(grown)
	for _, q := range []struct {
		holder, unit       string
		held, grown, limit int64
	}{
		{"the app", "records", after.app.Records, grown.app.Records, s.limits.AppRecords},
		{"the app", "bytes", after.app.Bytes, grown.app.Bytes, s.limits.AppBytes},
		{"the user", "records", after.user.Records, grown.user.Records, s.limits.UserRecords},
		{"the user", "bytes", after.user.Bytes, grown.user.Bytes, s.limits.UserBytes},
	} {
		if q.held > q.limit && q.grown > 0 {
			return abi.Faultf(abi.QuotaExceeded, "quota of %s: the write adds %d, and %s may hold %d", q.unit, q.grown, q.holder, q.limit).
				WithHint("delete records or files, or raise the limit")
		}
	}
	return nil
}

// noRoom is the fault of a write that would make what is stored grow, nil where the backend has room.
func (s *Service) noRoom() error {
	if err := storage.Space(s.backend); err != nil {
		s.log.Error("the backend is full", "error", err)
		return abi.Faultf(abi.Unavailable, "the memory backend has no room left").WithHint("delete records or files, or try again later")
	}
	return nil
}

// checkQuota refuses a draft of an entry that would make the app or the user hold more than they may. Holdings are a limit
// and not state: they are looked at, not depended on.
func (v *View) checkQuota(e *entry, d draft) error {
	grown := holdings{}
	grown.add(v.run.account(), v.change(v.tx.Stored(e.key), storage.Record{Key: e.key, Revision: 1, Content: d.bytes, Tags: v.tags(e)}))
	v.tx.Writes(func(stored, next storage.Record) bool {
		if next.Key != e.key && stored.Key != e.key {
			grown.add(v.run.account(), v.change(stored, next))
		}
		return true
	})
	return v.s.overQuota(*v.held, grown)
}

// change is the change that a write makes to what is stored.
func (v *View) change(stored, next storage.Record) storage.Change {
	if v.run.reclaimed && stored.Expired(v.s.now()) {
		stored = storage.Record{} // it takes no room any more
	}
	return storage.Change{Old: storage.HeadOf(stored), Write: storage.Write{Record: next, Delete: !next.Exists()}}
}

// readHoldings reads the holdings, once an attempt.
func (v *View) readHoldings(ctx context.Context) error {
	if v.held != nil {
		return nil
	}
	records, err := v.s.backend.Get(ctx, v.run.account().keys...)
	if err != nil {
		return err
	}
	held, err := decodeHoldings(records)
	v.held = &held
	return err
}

// mayReclaim reports whether a call over quota may free what has expired: once a transaction. A dry run frees nothing.
func (v *View) mayReclaim() bool { return !v.run.reclaimed && !v.run.tx.Dry }

// reclaim frees what has expired. If the attempt depends on a record that is freed, it is executed again.
func (v *View) reclaim(ctx context.Context) error {
	v.run.reclaimed = true
	if !v.s.reclaim(ctx, v.caller) {
		return nil
	}
	v.held = nil
	return v.readHoldings(ctx)
}

// reclaimed is how many expired records one reclaim frees.
const reclaimed = 1000

// reclaim frees records of the app that have expired, for a caller whose quota is full, and reports whether
// there were any. A sweep leaves them for an hour more, in case the clock runs ahead; but a write may have
// their room at once, as it may take the place of an expired record. It looks at a bounded number of records,
// and a transaction reclaims once for its calls and once for its commit.
func (s *Service) reclaim(ctx context.Context, c partition.Caller) bool {
	if s.clockMoved() {
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

// clockMoved reports whether the clock was set since the Service began, as far as the system's monotonic clock shows:
// records that would have expired by it must not be lost to a mistake.
func (s *Service) clockMoved() bool {
	now := s.clock()
	jump := now.Round(0).Sub(s.began.Round(0)) - now.Sub(s.began)
	return jump.Abs() > maxClockJump
}
