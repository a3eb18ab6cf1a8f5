package txn

import (
	"context"
	"errors"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// life is how long a visible record lives: until a time, zero for never. Depends are the records that decided that, each
// with its key, whether it exists or not.
type life struct {
	until   time.Time
	depends []storage.Record
}

// maxLooks bounds how often a snapshot is taken again because a record depends on others than it did.
const maxLooks = 4

// look reads a record, and what its life depends on, in a snapshot in which everything that is held is unchanged.
func (tx *Tx) look(ctx context.Context, key storage.Key) (*entry, error) {
	want := []storage.Key{key}
	for range maxLooks {
		records, err := tx.read(ctx, want)
		if err != nil {
			return nil, err
		}
		e := &entry{key: key, raw: records[0], at: tx.held.Since}
		var missing []storage.Key
		e.base, e.life, missing = tx.visible(e.raw, tx.at, func(dep storage.Key) (storage.Record, bool) {
			return recordOf(want, records, dep)
		})
		if len(missing) == 0 {
			return e, nil
		}
		want = append(want[:1:1], missing...)
	}
	return nil, tx.conflict()
}

// recordOf returns the record of one of keys.
func recordOf(keys []storage.Key, records []storage.Record, key storage.Key) (storage.Record, bool) {
	for i, k := range keys {
		if k == key {
			return records[i], true
		}
	}
	return storage.Record{}, false
}

// read returns the records under want from a snapshot in which everything that is held is unchanged; otherwise the attempt
// is over.
func (tx *Tx) read(ctx context.Context, want []storage.Key) ([]storage.Record, error) {
	for range maxLooks {
		records, err := tx.readWith(ctx, want)
		if !errors.Is(err, storage.ErrChanged) {
			return records, err
		}
		if err := tx.refresh(ctx); err != nil {
			return nil, err
		}
	}
	return nil, tx.conflict()
}

// readWith is read with more ranges, which returns storage.ErrChanged if something changed.
func (tx *Tx) readWith(ctx context.Context, want []storage.Key, more ...storage.Range) ([]storage.Record, error) {
	held := tx.heldBut(readsHold)
	held.Ranges = append(held.Ranges[:len(held.Ranges):len(held.Ranges)], more...)
	records, at, err := tx.run.db.backend.Read(ctx, want, held)
	if err != nil {
		return nil, err
	}
	tx.held.Since, tx.unverified = at, false
	tx.tick()
	if ended(tx.until, tx.at) && !tx.run.db.breaks(livesHold) {
		return nil, tx.conflict() // a record that was read has ended since
	}
	return records, nil
}

// heldBut returns what is held, without the versions if a rule is broken.
func (tx *Tx) heldBut(broken rule) storage.Held {
	held := tx.held
	if tx.run.db.breaks(broken) {
		held.Versions = nil
	}
	if tx.run.db.breaks(rangesHold) {
		held.Ranges = nil
	}
	return held
}

// tick notes that a snapshot was taken. For a transaction time does not go back, whatever clocks do.
func (tx *Tx) tick() {
	if now := tx.run.db.now(); now.After(tx.at) {
		tx.at = now
	}
}

// visible returns a record as a body sees it, nothing if its life has ended, and its life. Missing are keys of records that
// this depends on, and of which neither the attempt nor find has the record.
func (tx *Tx) visible(raw storage.Record, at time.Time, find func(storage.Key) (storage.Record, bool)) (base storage.Record, l life, missing []storage.Key) {
	if !raw.Exists() {
		return storage.Record{}, life{}, nil
	}
	own := tx.life(raw)
	if ended(own.Until, at) {
		return storage.Record{}, life{}, nil
	}
	l.until = own.Until
	for _, key := range own.Depends {
		r, ok := tx.lives[key]
		if !ok {
			r, ok = find(key)
		}
		if !ok {
			missing = append(missing, key)
			continue
		}
		r.Key = key
		l.until = earlier(l.until, tx.life(r).Until)
		l.depends = append(l.depends, r)
	}
	if len(missing) > 0 || ended(l.until, at) {
		return storage.Record{}, life{depends: l.depends}, missing
	}
	return raw, l, nil
}

func (tx *Tx) life(r storage.Record) Life {
	if live := tx.run.o.Live; live != nil {
		return live(r)
	}
	return Life{Until: r.Expires}
}

// ended reports whether a life is over; the zero time never comes.
func ended(until, at time.Time) bool { return !until.IsZero() && !at.Before(until) }

// earlier returns the earlier end of two.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// floor finds out above which revision a record begins, before the body sees the revision that it will have; the attempt
// then depends on it.
func (tx *Tx) floor(ctx context.Context, e *entry) error {
	if e.floored {
		return nil
	}
	above := e.raw.Revision
	if key := storage.FloorKey(e.key); key != "" {
		records, err := tx.read(ctx, []storage.Key{key})
		if err != nil {
			return err
		}
		above = max(above, records[0].Revision)
		if !tx.run.db.breaks(floorsHold) {
			tx.hold(records[0], key)
		}
	}
	e.above, e.floored = above, true
	return nil
}
