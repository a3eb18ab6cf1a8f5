package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	// commitTimeout bounds a commit, which the end of the run's context no longer stops.
	commitTimeout = 30 * time.Second
	// maxMisses bounds how often blind updates are applied again for one commit outside of the backend's transaction.
	maxMisses = 8
	// quickBytes bounds the contents that updates read and write inside it: so little that many commits to one record
	// share a transaction. After lockedMisses it is MaxBlindBytes.
	quickBytes   = 32 << 10
	lockedMisses = 3
)

var (
	// errMissed is the error of a commit that has to apply blind updates again.
	errMissed = errors.New("a record changed since the updates were applied")
	errLate   = errors.New("the backend did not commit in time")
)

// commit is one commit under way. What decide sets is of its last call.
type commit struct {
	tx   *Tx
	keys keySet
	// ahead is what blind updates make of records that changed since the attempt looked at them.
	ahead map[*entry]applied
	// locked allows more updates inside the backend's transaction.
	locked bool
	limits storage.Budget
	// full is why nothing may be added, or nil; see [storage.Space].
	full error
	// expected are the effects of the commit if no record changes before it, and extra what OnCommit made of them.
	expected Effects
	extra    []storage.Write

	budget  int // of updates inside
	effects Effects
	writes  []storage.Write
	growth  storage.Growth // only if it is needed
}

// applied is what blind updates make of a record.
type applied struct {
	raw   storage.Record
	base  storage.Record
	write write
}

// store stores what the attempt wrote in one update of the backend, if everything that it read holds.
func (c *commit) store(ctx context.Context) (Outcome, error) {
	tx := c.tx
	inTime, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	err := c.settle(inTime, func() error {
		on := storage.Footprint{Keys: c.keys.list, Held: tx.reads.heldBut(commitHolds), Budget: c.limits}
		return tx.run.db.backend.Update(inTime, on, c.decide)
	})
	if errors.Is(err, storage.ErrUnknownOutcome) {
		err = c.lookUp(ctx, err)
	}
	switch {
	case err == nil:
		return Outcome{Effects: c.effects, Committed: true}, nil
	case errors.Is(err, ErrConflict), errors.Is(err, storage.ErrChanged):
		return Outcome{}, tx.conflict()
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return Outcome{}, errLate
	}
	return Outcome{}, err
}

// rehearse decides what a commit would do on the records as they are, and stores nothing.
func (c *commit) rehearse(ctx context.Context) (Outcome, error) {
	tx := c.tx
	err := c.settle(ctx, func() error {
		records, err := tx.read(ctx, c.keys.list)
		if err == nil {
			_, err = c.decide(records)
		}
		if err == nil {
			err = c.checkBudget(ctx)
		}
		return err
	})
	if errors.Is(err, ErrConflict) {
		return Outcome{}, tx.conflict()
	}
	return Outcome{Effects: c.effects}, err
}

// settle calls try, which decides the commit, until no record that blind updates go to changes in between, and deals with
// a lack of room.
func (c *commit) settle(ctx context.Context, try func() error) error {
	r := c.tx.run
	if err := r.draw(); err != nil {
		return err
	}
	if err := c.expect(); err != nil {
		return err
	}
	reclaimed := r.o.Quota == nil || r.o.DryRun // a dry run frees nothing
	for misses, refreshes := 0, 0; ; {
		c.full = storage.Space(r.db.backend)
		err := try()
		full := lacksRoom(err)
		switch {
		case errors.Is(err, storage.ErrChanged) && refreshes < maxLooks:
			refreshes++
			if err := c.tx.refresh(ctx); err != nil {
				return err
			}
		case errors.Is(err, errMissed) && misses < maxMisses:
			misses++
			c.locked = misses >= lockedMisses
			if err := c.applyAhead(ctx); err != nil {
				return err
			}
		case errors.Is(err, errMissed):
			return ErrConflict
		case full && !reclaimed && r.o.Quota.Reclaim(ctx):
			reclaimed = true
		case full && c.tx.local.wrote() && !r.refused:
			r.refused = true
			return ErrConflict // the next attempt sees it at a call
		default:
			return err
		}
	}
}

// noRoomError is the error of a commit that adds bytes to a backend which is full.
type noRoomError struct{ error }

func (e noRoomError) Unwrap() error { return e.error }

// lacksRoom reports whether an error is of a commit that was refused because it adds too much.
func lacksRoom(err error) bool {
	_, over := errors.AsType[*storage.OverBudgetError](err)
	_, full := errors.AsType[noRoomError](err)
	return over || full
}

// expect foresees the commit: what OnCommit writes may be large, and is made before others wait for it.
func (c *commit) expect() (err error) {
	tx := c.tx
	c.expected = tx.local.effects(tx.run.attempts)
	for _, e := range tx.local.entries {
		if e.write.set {
			change := Change{Key: e.key, Old: e.base, Warnings: e.write.warnings}
			tx.pending(e, &change.New)
			c.expected.Writes = append(c.expected.Writes, change)
		}
	}
	if tx.run.o.OnCommit != nil {
		if c.extra, err = tx.run.o.OnCommit(c.expected); err != nil {
			return err
		}
	}
	extra := make([]storage.Key, len(c.extra))
	for i, w := range c.extra {
		extra[i] = w.Record.Key
	}
	if q := tx.run.o.Quota; q != nil {
		c.limits = q.Budget()
	}
	c.keys = c.allKeys(extra)
	return nil
}

// allKeys are the keys that a commit looks at: those of guards, of what it writes, and more.
func (c *commit) allKeys(more []storage.Key) keySet {
	tx, o := c.tx, c.tx.run.o
	keys := keySet{list: make([]storage.Key, 0, len(o.Guards)+len(more)+2*len(tx.local.entries)+2)}
	for _, g := range o.Guards {
		keys.add(g.Key)
	}
	for _, e := range tx.local.entries {
		if !e.write.set {
			continue
		}
		keys.add(e.key)
		if !e.read {
			for _, r := range e.life.depends {
				keys.add(r.Key)
			}
		}
		if floor := storage.FloorKey(e.key); floor != "" && (!e.read || !e.base.Exists()) {
			keys.add(floor) // it may begin the record
		}
	}
	keys.add(more...)
	return keys
}

// decide is the function of the backend's update: given the records as they are, it returns what to write.
func (c *commit) decide(now []storage.Record) ([]storage.Write, error) {
	tx, r := c.tx, c.tx.run
	c.writes, c.growth, c.budget = nil, storage.Growth{}, quickBytes
	if c.locked {
		c.budget = MaxBlindBytes
	}
	c.effects = Effects{Attempts: r.attempts, Reads: c.expected.Reads}
	tx.reads.tick()
	guarded := func(i int) storage.Record { return now[c.keys.find(r.o.Guards[i].Key)] }
	if err := r.guardsHold(tx.reads.at, guarded); err != nil {
		return nil, err
	}
	if ended(tx.reads.until, tx.reads.at) && !r.db.breaks(livesHold) {
		return nil, ErrConflict
	}
	for _, e := range tx.local.entries {
		if !e.write.set {
			continue
		}
		if err := c.write(e, now); err != nil {
			return nil, err
		}
	}
	if err := c.addExtra(now); err != nil {
		return nil, err
	}
	if c.full != nil && c.growth.AppBytes() > 0 {
		return nil, noRoomError{c.full}
	}
	return c.writes, nil
}

// write decides what becomes of one written record.
func (c *commit) write(e *entry, now []storage.Record) error {
	tx := c.tx
	raw := now[c.keys.find(e.key)]
	base, _, missing := tx.reads.visible(raw, tx.reads.at, func(key storage.Key) (storage.Record, bool) {
		i := c.keys.find(key)
		if i < 0 {
			return storage.Record{}, false
		}
		return now[i], true
	})
	if len(missing) > 0 {
		return errMissed
	}
	above := raw.Revision
	if i := c.keys.find(storage.FloorKey(e.key)); i >= 0 && !tx.run.db.breaks(floorsRaise) {
		above = max(above, now[i].Revision)
	}
	w, err := c.writeOn(e, raw, base, above)
	if err != nil {
		return err
	}
	var next storage.Record
	tx.run.stamp(&next, &base, above, &w)
	c.effects.Writes = append(c.effects.Writes, Change{Key: e.key, Old: base, New: next, Warnings: w.warnings})
	if next.Exists() {
		c.add(raw, storage.Write{Record: next})
	} else if raw.Exists() {
		c.add(raw, storage.Write{Record: storage.Record{Key: e.key}, Delete: true})
	}
	return nil
}

// writeOn returns what an entry's updates make of the latest record: what the attempt saw, if that is the same.
func (c *commit) writeOn(e *entry, raw, base storage.Record, above int64) (write, error) {
	db := c.tx.run.db
	unchecked := e.read && db.breaks(commitHolds) || !e.read && db.breaks(blindReapplied)
	if unchecked || same(e.raw, e.base, raw, base) {
		return e.write, nil
	}
	if e.read {
		return write{}, ErrConflict
	}
	if a, ok := c.ahead[e]; ok && same(a.raw, a.base, raw, base) {
		return a.write, nil
	}
	if c.budget < e.write.bytes+len(base.Content) {
		return write{}, errMissed // as far as is known
	}
	w, err := c.tx.reapply(e, base, above, &c.budget)
	if err != nil {
		return write{}, errMissed // it is tried outside, or the next attempt sees why
	}
	return w, nil
}

// same reports whether two states of a record are the same version and equally visible.
func same(raw, base, otherRaw, otherBase storage.Record) bool {
	return raw.SameVersion(otherRaw) && base.Exists() == otherBase.Exists()
}

func (c *commit) add(old storage.Record, w storage.Write) {
	c.writes = append(c.writes, w)
	if c.full != nil || c.tx.run.o.DryRun {
		c.growth.AddChange(storage.Change{Old: storage.HeadOf(old), Write: w})
	}
}

// addExtra adds what OnCommit writes.
func (c *commit) addExtra(now []storage.Record) (err error) {
	o, extra := c.tx.run.o, c.extra
	if o.OnCommit != nil && !c.asExpected() {
		if extra, err = o.OnCommit(c.effects); err != nil {
			return err
		}
	}
	for _, w := range extra {
		if !slices.Contains(c.extraKeys(), w.Record.Key) {
			return fmt.Errorf("OnCommit writes %s, which is not in Options.Extra", w.Record.Key)
		}
		i := c.keys.find(w.Record.Key)
		if i < 0 {
			return errMissed // it was not expected to be written
		}
		old := now[i]
		if !w.Delete {
			next := write{set: true}
			next.put(w.Record.Key, old, w.Record, nil)
			next.next.Revision = 1 // its content may be nil
			c.tx.run.stamp(&w.Record, &old, 0, &next)
		}
		c.add(old, w)
	}
	return nil
}

// extraKeys are the keys that OnCommit may write.
func (c *commit) extraKeys() []storage.Key {
	if extra := c.tx.run.o.Extra; extra != nil {
		return extra()
	}
	return nil
}

// asExpected reports whether the effects of the commit are those that were expected.
func (c *commit) asExpected() bool {
	return len(c.ahead) == 0 && slices.EqualFunc(c.effects.Writes, c.expected.Writes, func(a, b Change) bool {
		return a.New.SameVersion(b.New) && a.Old.SameVersion(b.Old)
	})
}

// checkBudget compares what a dry run would add with the budget.
func (c *commit) checkBudget(ctx context.Context) error {
	return c.limits.Check(&c.growth, storage.HeldBy(ctx, c.tx.run.db.backend))
}
