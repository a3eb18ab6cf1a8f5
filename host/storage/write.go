package storage

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// Limits of a record. The maximum sizes of a write are the same for every backend. The limits bound
// the work that a writer does while the writer holds a lock. Larger contents must be split into
// several records.
const (
	MaxKeyBytes     = 2 << 10 // the maximum size of a key, in bytes
	MaxTagBytes     = 512     // the maximum size of each tag, in bytes
	MaxContentBytes = 4 << 20 // the maximum size of a content, in bytes
)

// Change consists of a checked write and the head of the record that the write replaces. The zero
// Head means that the write replaces no record.
type Change struct {
	Old Head
	Write
}

// Changed returns the entry for the change in the backend's history.
func (c Change) Changed() Changed {
	if c.Delete {
		return Changed{Version: c.Old.Version(), Deleted: true}
	}
	return Changed{Version: c.Record.Version()}
}

// Removal returns the change that removes a record.
func Removal(old Head) Change {
	return Change{Old: old, Write: Write{Record: Record{Key: old.Key}, Delete: true}}
}

// ApplyUpdate is the common part of Update in all backends. ApplyUpdate calls fn with the records
// under the given keys and checks the writes that fn returns. ApplyUpdate converts times to UTC
// with microsecond precision, and omits deletes of absent records. If fn returns an error,
// ApplyUpdate returns the same error. ApplyUpdate converts a panic in fn to an error, so that other
// updates continue.
func ApplyUpdate(keys []Key, now []Record, fn func(now []Record) ([]Write, error)) ([]Change, error) {
	writes, err := call(fn, now)
	if err != nil {
		return nil, err
	}
	if len(writes) == 0 {
		return nil, nil
	}
	indexes := newIndexes(keys)
	changes := make([]Change, 0, len(writes))
	for _, w := range writes {
		k := w.Record.Key
		i, ok := indexes.take(k)
		if !ok {
			return nil, fmt.Errorf("update: the key %s is written twice, or does not belong to the update", k)
		}
		if err := check(w); err != nil {
			return nil, fmt.Errorf("update: %s: %w", k, err)
		}
		if w.Delete && !now[i].Exists() {
			continue
		}
		w.Record = w.Record.normal()
		changes = append(changes, Change{Old: HeadOf(now[i]), Write: w})
	}
	return changes, nil
}

// indexes maps the keys of an update to the positions of the keys in the update, and records which
// keys were taken.
type indexes struct {
	keys  []Key
	taken []bool
	index map[Key]int // nil for few keys, for which a linear search is faster
}

func newIndexes(keys []Key) *indexes {
	p := &indexes{keys: keys, taken: make([]bool, len(keys))}
	if len(keys) > 16 {
		p.index = make(map[Key]int, len(keys))
		for i, k := range keys {
			p.index[k] = i
		}
	}
	return p
}

// take returns the index of a key and marks the key as taken. The second result is false if the key
// is unknown or was already taken.
func (p *indexes) take(k Key) (int, bool) {
	i, ok := p.find(k)
	if !ok || p.taken[i] {
		return 0, false
	}
	p.taken[i] = true
	return i, true
}

func (p *indexes) find(k Key) (int, bool) {
	if p.index != nil {
		i, ok := p.index[k]
		return i, ok
	}
	i := slices.Index(p.keys, k)
	return i, i >= 0
}

func call(fn func([]Record) ([]Write, error), now []Record) (writes []Write, err error) {
	defer func() {
		if p := recover(); p != nil {
			writes, err = nil, fmt.Errorf("update: the function panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(now)
}

func check(w Write) error {
	r := w.Record
	if r.Key == "" || !r.Key.valid() {
		return errKey
	}
	if IsFloor(r.Key) {
		return errors.New("only the backend can write floors")
	}
	if w.Delete {
		return nil
	}
	if len(r.Key) > MaxKeyBytes {
		return fmt.Errorf("the key has %d bytes; the limit is %d", len(r.Key), MaxKeyBytes)
	}
	if len(r.Content) > MaxContentBytes {
		return fmt.Errorf("the content has %d bytes; the limit is %d", len(r.Content), MaxContentBytes)
	}
	if r.Revision < 1 {
		return fmt.Errorf("the revision is %d; want at least 1", r.Revision)
	}
	for i, tag := range r.Tags {
		if tag == "" || len(tag) > MaxTagBytes || slices.Contains(r.Tags[:i], tag) {
			return fmt.Errorf("a tag is empty, duplicated or longer than %d bytes", MaxTagBytes)
		}
	}
	return nil
}

// normal returns r with its times in UTC and with the precision that every backend stores.
func (r Record) normal() Record {
	for _, t := range []*time.Time{&r.Created, &r.Updated, &r.Expires} {
		*t = time.UnixMicro(t.UnixMicro()).UTC()
	}
	return r
}
