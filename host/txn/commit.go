package txn

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	// commitTimeout is the maximum duration of a commit. If the context of a run ends, a commit in
	// progress is not cancelled.
	commitTimeout = 30 * time.Second
	// maxMisses is the maximum number of times that a commit applies its blind updates again
	// outside the backend's transaction.
	maxMisses = 8
	// quickBytes is the maximum number of bytes that the updates of a commit may read and write
	// inside the backend's transaction. quickBytes is small, because the backend executes many
	// commits in one transaction. If a commit has repeated its updates lockedMisses times,
	// MaxBlindBytes is the maximum instead of quickBytes.
	quickBytes   = 32 << 10
	lockedMisses = 3
)

var (
	// errMissed means that the records of blind updates have changed. After errMissed, the commit
	// must apply the blind updates again.
	errMissed = errors.New("a record changed since the updates were applied")
	errLate   = errors.New("the backend did not commit in time")
)

// commit is the state of a commit in progress.
type commit struct {
	tx *Tx
	// keys contains the keys of the records that the callback "decide" receives.
	keys keySet
	// ahead maps entries to the results of their blind updates. The updates were applied again
	// before the backend's transaction.
	ahead map[*entry]applied
	// If locked is true, the byte limit for updates inside the backend's transaction is
	// MaxBlindBytes.
	locked bool
	limits storage.Budget
	// full is an error if the backend has no free space, and nil otherwise; see [storage.Space].
	full error
	// expected contains the effects of the commit, provided that no record changes before the
	// commit. extra contains the writes that OnCommit returned for the expected effects.
	expected Effects
	extra    []storage.Write

	// The following fields are results of the last call to the callback "decide". growth is set
	// only if the commit has a budget or the backend has no free space.
	effects Effects
	writes  []storage.Write
	growth  storage.Growth
	// budget is the number of bytes that updates may still read and write in the current call to
	// "decide".
	budget int
}

// applied contains a record and the result of its blind updates.
type applied struct {
	raw   storage.Record
	base  storage.Record
	write write
}

// store checks that all records and ranges that the attempt read are unchanged. If so, the method
// writes the records of the attempt in one update of the backend.
func (c *commit) store(ctx context.Context) (Outcome, error) {
	tx := c.tx
	inTime, cancel := within(ctx, commitTimeout)
	defer cancel()
	err := c.settle(inTime, func() error {
		on := storage.Footprint{Keys: c.keys, Held: tx.reads.heldBut(commitHolds), Budget: c.limits}
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

// within returns a context that ends at the end of ctx or after the given time limit. If ctx has an
// earlier deadline, within returns ctx itself, without a second timer.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= limit {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// dryRun stores nothing and computes the effects that a commit would have on the current records.
func (c *commit) dryRun(ctx context.Context) (Outcome, error) {
	tx := c.tx
	err := c.settle(ctx, func() error {
		records, err := tx.read(ctx, c.keys)
		if err == nil {
			_, err = c.decide(records)
		}
		if err == nil {
			err = c.limits.Check(&c.growth, storage.HeldBy(ctx, tx.run.db.backend))
		}
		return err
	})
	if errors.Is(err, ErrConflict) {
		return Outcome{}, tx.conflict()
	}
	return Outcome{Effects: c.effects}, err
}

// settle calls the function "try", which stores the commit or computes a dry run. If records of
// blind updates have changed, the method applies the updates again and calls "try" again. If the
// commit exceeds the budget or the free space, the method reclaims space once and calls "try"
// again.
func (c *commit) settle(ctx context.Context, try func() error) error {
	r := c.tx.run
	if err := r.draw(); err != nil {
		return err
	}
	if err := c.expect(); err != nil {
		return err
	}
	reclaimed := r.o.Quota == nil || r.o.DryRun // a dry run reclaims nothing
	for misses, refreshes := 0, 0; ; {
		c.full = storage.Space(r.db.backend)
		err := try()
		switch {
		case errors.Is(err, storage.ErrChanged) && refreshes < maxReads:
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
		case c.lacksRoom(err) && !reclaimed && r.o.Quota.Reclaim(ctx):
			reclaimed = true
		case c.lacksRoom(err) && c.tx.local.wrote() && !r.refused:
			r.refused = true
			return ErrConflict // the next attempt returns the quota error
		default:
			return err
		}
	}
}

// lacksRoom reports whether an error means that a commit would exceed a budget or the free space.
func (c *commit) lacksRoom(err error) bool {
	_, over := errors.AsType[*storage.OverBudgetError](err)
	return over || c.full != nil && errors.Is(err, c.full)
}

// lookUp determines whether a commit was applied if the reply to the commit was lost. If a commit
// was applied, the written records contain the id of the run. If the records contain another id,
// the outcome stays unknown. Another run may have overwritten the records, or the commit may still
// be in progress.
func (c *commit) lookUp(ctx context.Context, lost error) error {
	r := c.tx.run
	if r.db.breaks(lookedUp) {
		return ErrConflict
	}
	if r.o.ID == "" {
		return lost
	}
	var keys []storage.Key
	for _, w := range c.writes {
		if !w.Delete {
			keys = append(keys, w.Record.Key)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout) // the commit's own context may have ended
	defer cancel()
	records, _, err := r.db.backend.Read(ctx, keys, storage.Held{})
	if err != nil {
		return errors.Join(lost, err)
	}
	for _, record := range records {
		if record.Exists() && record.Run == r.o.ID {
			return nil
		}
	}
	return lost
}
