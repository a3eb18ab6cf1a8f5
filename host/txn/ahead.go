package txn

import (
	"context"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// This file contains the parts of a commit that run outside the backend's transaction. Parts
// outside the transaction do not block other commits.

// expect computes the effects of the commit for the case that no record changes before the commit.
// The method also calls OnCommit, because OnCommit may write large records and should run outside
// the backend's transaction.
func (c *commit) expect() (err error) {
	tx, o := c.tx, c.tx.run.o
	c.expected = tx.local.effects(tx.run.attempts)
	c.expected.Writes = make([]Change, 0, tx.local.writes)
	for _, e := range tx.local.entries {
		if e.write.set {
			change := Change{Key: e.key, Old: e.base, Warnings: e.write.warnings}
			tx.pending(e, &change.New)
			c.expected.Writes = append(c.expected.Writes, change)
		}
	}
	if o.OnCommit != nil {
		if c.extra, err = o.OnCommit(c.expected); err != nil {
			return err
		}
	}
	if o.Quota != nil {
		c.limits = o.Quota.Budget()
	}
	extra := make([]storage.Key, len(c.extra))
	for i, w := range c.extra {
		extra[i] = w.Record.Key
	}
	c.keys = c.allKeys(extra)
	return nil
}

// allKeys returns the keys of all records that the callback "decide" receives. The records are the
// guards, the written records with their floors, and the extra records of OnCommit.
func (c *commit) allKeys(more []storage.Key) keySet {
	tx, guards := c.tx, c.tx.run.o.Guards
	keys := make([]storage.Key, 0, len(guards)+len(more)+2*len(tx.local.entries)+2)
	for _, g := range guards {
		keys = append(keys, g.Key)
	}
	for _, e := range tx.local.entries {
		if !e.write.set {
			continue
		}
		keys = append(keys, e.key)
		if !e.read {
			for _, r := range e.life.depends {
				keys = append(keys, r.Key)
			}
		}
		if floor := storage.FloorKey(e.key); floor != "" && (!e.read || !e.base.Exists()) {
			keys = append(keys, floor) // if the record does not exist, the floor is needed
		}
	}
	return newKeySet(append(keys, more...))
}

// applyAhead acquires the fair locks of the records with blind updates, and then applies the blind
// updates to the latest records. While applyAhead holds the locks, other transactions of the DB can
// change each record at most once more.
func (c *commit) applyAhead(ctx context.Context) error {
	r := c.tx.run
	var keys []storage.Key
	for _, e := range c.tx.local.entries {
		if e.write.set && !e.read {
			keys = append(keys, e.key)
		}
	}
	if r.lease == nil {
		if err := r.lock(ctx, keys, nil); err != nil {
			return err
		}
	}
	c.ahead = map[*entry]applied{}
	more := slices.Clone(c.extraKeys())
	for _, key := range keys {
		if ctx.Err() != nil {
			return conflictAtEnd(ctx)
		}
		// applyAhead reads each record in a separate snapshot. The commit checks all records in one
		// transaction.
		fetched, err := c.tx.fetch(ctx, []storage.Key{key})
		if err != nil {
			return err
		}
		now, e := &fetched[0], c.tx.local.find(key)
		w, err := c.tx.reapply(e, now.base, now.raw.Revision, nil)
		if err != nil {
			return ErrConflict // the next attempt returns the error
		}
		c.ahead[e] = applied{now.raw, now.base, w}
		for _, dep := range now.life.depends {
			more = append(more, dep.Key)
		}
	}
	c.keys = c.allKeys(more)
	return nil
}

// extraKeys returns the keys of the records that OnCommit may write.
func (c *commit) extraKeys() []storage.Key {
	if extra := c.tx.run.o.Extra; extra != nil {
		return extra()
	}
	return nil
}
