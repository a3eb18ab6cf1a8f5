package txn

import (
	"context"
	"errors"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// applyAhead applies all blind updates to the latest records, outside of the backend's transaction. From then on the attempt
// holds the fair locks of these records, so that it meets others of this process once at most.
func (c *commit) applyAhead(ctx context.Context) error {
	r := c.tx.run
	var keys []storage.Key
	for _, e := range c.tx.local.entries {
		if e.write.set && !e.read {
			keys = append(keys, e.key)
		}
	}
	if r.lease == nil {
		lease, err := r.db.locks.take(ctx, keys, nil)
		if err != nil {
			return conflictAtEnd(ctx)
		}
		r.lease = lease
	}
	c.ahead = map[*entry]applied{}
	more := slices.Clone(c.extraKeys())
	for _, key := range keys {
		if ctx.Err() != nil {
			return conflictAtEnd(ctx)
		}
		// In a snapshot of its own: the commit looks at all of them at once.
		now, err := c.tx.look(ctx, key)
		if err != nil {
			return err
		}
		e := c.tx.local.find(key)
		w, err := c.tx.reapply(e, now.base, now.raw.Revision, nil)
		if err != nil {
			return ErrConflict // the next attempt sees why
		}
		c.ahead[e] = applied{now.raw, now.base, w}
		for _, dep := range now.life.depends {
			more = append(more, dep.Key)
		}
	}
	c.keys = c.allKeys(more)
	return nil
}

// lookUp finds out whether a commit took place whose answer was lost: each record that it wrote bears the run's id. Records
// that bear another do not say no, for others may have written them since, or the commit may still be on its way.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout) // the commit's may be over
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
