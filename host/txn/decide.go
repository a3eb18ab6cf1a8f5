package txn

import (
	"fmt"
	"slices"

	"github.com/toolrun/toolrun/host/storage"
)

// decide is the callback of Backend.Update and returns the writes of the commit. The argument "now"
// contains the current records of c.keys. While the callback "decide" runs, other commits wait.
func (c *commit) decide(now []storage.Record) ([]storage.Write, error) {
	tx, r := c.tx, c.tx.run
	c.writes = make([]storage.Write, 0, tx.local.writes+len(c.extra))
	c.growth, c.budget = storage.Growth{}, quickBytes
	if c.locked {
		c.budget = MaxBlindBytes
	}
	c.effects = Effects{Attempts: r.attempts, Reads: c.expected.Reads, Writes: make([]Change, 0, tx.local.writes)}
	tx.reads.tick()
	guarded := func(i int) storage.Record { return now[c.keys.find(r.o.Guards[i].Key)] }
	if err := r.checkGuards(tx.reads.at, guarded); err != nil {
		return nil, err
	}
	if ended(tx.reads.until, tx.reads.at) && !r.db.breaks(livesHold) {
		return nil, ErrConflict
	}
	for _, e := range tx.local.entries {
		if !e.write.set {
			continue
		}
		if err := c.decideWrite(e, now); err != nil {
			return nil, err
		}
	}
	if err := c.addExtra(now); err != nil {
		return nil, err
	}
	if c.full != nil && c.growth.AppBytes() > 0 {
		return nil, c.full
	}
	return c.writes, nil
}

// decideWrite adds the write of one entry to the commit.
func (c *commit) decideWrite(e *entry, now []storage.Record) error {
	tx := c.tx
	raw := now[c.keys.find(e.key)]
	_, alive, missing := tx.reads.visible(&raw, tx.reads.at, func(key storage.Key) *storage.Record {
		if i := c.keys.find(key); i >= 0 {
			return &now[i]
		}
		return nil
	})
	if len(missing) > 0 {
		return errMissed
	}
	var base storage.Record
	if alive {
		base = raw
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

// writeOn applies the updates of an entry to the current record and returns the result. If the
// record has not changed since the attempt, writeOn returns the result from the attempt.
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
		return write{}, errMissed // the record is already too large without the updates
	}
	w, err := c.tx.reapply(e, base, above, &c.budget)
	if err != nil {
		return write{}, errMissed // the updates will be repeated
	}
	return w, nil
}

func (c *commit) add(old storage.Record, w storage.Write) {
	c.writes = append(c.writes, w)
	if c.full != nil || c.tx.run.o.DryRun {
		c.growth.AddChange(storage.Change{Old: storage.HeadOf(old), Write: w})
	}
}

// addExtra adds the writes that OnCommit returns to the commit.
func (c *commit) addExtra(now []storage.Record) (err error) {
	o, extra := c.tx.run.o, c.extra
	if o.OnCommit != nil && !c.asExpected() {
		if extra, err = o.OnCommit(c.effects); err != nil {
			return err
		}
	}
	for _, w := range extra {
		if !slices.Contains(c.extraKeys(), w.Record.Key) {
			return fmt.Errorf("OnCommit wrote the key %s, but Options.Extra does not contain it", w.Record.Key)
		}
		i := c.keys.find(w.Record.Key)
		if i < 0 {
			return errMissed // for the expected effects, OnCommit returned no write of the record
		}
		old := now[i]
		if !w.Delete {
			next := write{set: true}
			next.put(w.Record.Key, &old, &State{Content: w.Record.Content, Expires: w.Record.Expires, Tags: w.Record.Tags, Revision: w.Record.Revision}, nil)
			next.next.Revision = 1 // for the method "stamp", a nil content would mean a deletion
			c.tx.run.stamp(&w.Record, &old, 0, &next)
		}
		c.add(old, w)
	}
	return nil
}

// asExpected reports whether the effects of the commit are equal to the expected effects.
func (c *commit) asExpected() bool {
	return len(c.ahead) == 0 && slices.EqualFunc(c.effects.Writes, c.expected.Writes, func(a, b Change) bool {
		return a.New.SameVersion(b.New) && a.Old.SameVersion(b.Old)
	})
}
