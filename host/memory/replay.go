package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// What applying blind writes again may cost inside the backend's transaction, where all others wait: so many
// bytes of contents and patches a commit, and so many steps of a schema a write. What costs more is done
// outside, and done again if the record changes meanwhile.
const (
	maxLockedBytes = 32 << 10
	lockedWork     = 2_000
)

// maxReplays is how often a commit applies blind writes again outside before the attempt is a conflict.
const maxReplays = 8

// madeOf is what blind writes make of a base.
type madeOf struct {
	base  storage.Record
	draft draft
}

// settled calls try, which decides the commit, until no record that blind writes go to changes in between, and
// deals with a full quota.
func (c *commit) settled(ctx context.Context, try func() error) error {
	reclaimed := c.v.dry // a dry run frees nothing
	for replays := 0; ; {
		c.full = c.v.s.noRoom()
		c.foresee()
		err := try()
		switch {
		case errors.Is(err, errMissed) && replays < maxReplays:
			replays++
			if err := c.redoOutside(ctx); err != nil {
				return err
			}
		case errors.Is(err, errMissed):
			return errConflict
		case errors.Is(err, abi.QuotaExceeded) && !reclaimed && c.v.s.reclaim(ctx, c.v.caller):
			reclaimed = true
		case errors.Is(err, abi.QuotaExceeded) && c.v.writesAnything() && !c.v.memo.overQuota:
			c.v.memo.overQuota = true
			return errConflict // so that the next attempt learns it at the call
		default:
			return err
		}
	}
}

// redo returns what the entry's writes make of the latest record: what the attempt saw, if it did not change.
// Otherwise its writes were blind, and are applied again; if that is refused now, the next attempt shall learn
// it at the call.
func (c *commit) redo(e *entry, base storage.Record) (draft, error) {
	if base.SameVersion(e.base) {
		return e.draft, nil
	}
	if ahead, ok := c.ahead[e]; ok && base.SameVersion(ahead.base) {
		return ahead.draft, nil
	}
	if d, ok := c.redoCheaply(e, base); ok {
		return d, nil
	}
	return draft{}, errMissed
}

// redoCheaply applies blind writes inside of the backend's transaction, if that is little work.
func (c *commit) redoCheaply(e *entry, base storage.Record) (draft, bool) {
	d := draftOf(base)
	for _, w := range e.blind {
		c.locked += len(d.bytes) + len(w.value)
		fills := e.store.schema != nil && (w.replace || !d.exists) // with defaults, which are not bounded by steps
		if c.locked > maxLockedBytes || fills {
			return draft{}, false
		}
		next, err := c.v.s.apply(e.store.cheap(), d, w)
		if err != nil || slices.ContainsFunc(next.violations, func(v abi.Violation) bool { return v.Keyword == schema.MaxWork }) {
			return draft{}, false
		}
		d = next
	}
	return d, true
}

// cheap is the store with few steps for its schema.
func (st *store) cheap() *store {
	if st.schema == nil {
		return st
	}
	bounded := *st
	bounded.schema = st.schema.Within(lockedWork)
	return &bounded
}

// redoOutside applies all blind writes to the latest records, outside of the backend's transaction. From then
// on the attempt holds the turns of these records, so that it meets others once at most.
func (c *commit) redoOutside(ctx context.Context) error {
	var blind []*entry
	var keys []storage.Key
	for _, e := range c.v.entries {
		if e.wrote && !e.read {
			blind, keys = append(blind, e), append(append(keys, e.key), e.ends...)
		}
	}
	if c.v.turn == nil {
		turn, err := c.v.s.turns.take(ctx, keys)
		if err != nil {
			return stillConflict(ctx)
		}
		c.v.turn = turn
	}
	records, err := c.v.s.backend.Get(ctx, keys...)
	if err != nil {
		return err
	}
	snap := c.v.s.snapshot(keys, records)
	c.ahead = map[*entry]madeOf{}
	for _, e := range blind {
		if ctx.Err() != nil {
			return stillConflict(ctx)
		}
		base, known := c.v.aliveNow(snap, e)
		if !known {
			return errConflict
		}
		d, err := c.v.replay(e, base)
		if err != nil {
			return errConflict
		}
		c.ahead[e] = madeOf{base, d}
	}
	return nil
}

// replay applies an entry's blind writes to another base.
func (v *View) replay(e *entry, base storage.Record) (draft, error) {
	d := draftOf(base)
	for _, w := range e.blind {
		next, err := v.s.apply(e.store, d, w)
		if err != nil {
			return draft{}, err
		}
		d = next
	}
	return d, nil
}
