package storage

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// What a backend keeps at most. They make every backend refuse alike, and keep the work under a writer's lock bounded:
// what is larger is stored in pieces.
const (
	MaxKeyBytes     = 2 << 10 // a key
	MaxTagBytes     = 512     // one of a record's Tags
	MaxContentBytes = 4 << 20 // a content
)

// Change is a checked write together with the head of the record that it replaces, which is zero where there is
// none.
type Change struct {
	Old Head
	Write
}

// Changed returns what the change leaves for those who follow the backend.
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

// ApplyUpdate is the part of Update that is the same for every backend: it calls fn with the records under keys
// and checks what fn answers. Times come back in UTC and whole microseconds, deletes of nothing are left out.
// An error of fn comes back as it is; a panic in fn becomes an error, so that it fails nobody else's update.
func ApplyUpdate(keys []Key, now []Record, fn func(now []Record) ([]Write, error)) ([]Change, error) {
	writes, err := call(fn, now)
	if err != nil {
		return nil, err
	}
	if len(writes) == 0 {
		return nil, nil
	}
	places := newPlaces(keys)
	changes := make([]Change, 0, len(writes))
	for _, w := range writes {
		k := w.Record.Key
		i, ok := places.take(k)
		if !ok {
			return nil, fmt.Errorf("update: a write to %s, which is not among the keys of the update or is written twice", k)
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

// places are those of the keys of an update that were not written yet.
type places struct {
	keys  []Key
	taken []bool
	index map[Key]int // nil for few keys, which are found sooner one by one
}

func newPlaces(keys []Key) *places {
	p := &places{keys: keys, taken: make([]bool, len(keys))}
	if len(keys) > 16 {
		p.index = make(map[Key]int, len(keys))
		for i, k := range keys {
			p.index[k] = i
		}
	}
	return p
}

// take returns the place of a key, once.
func (p *places) take(k Key) (int, bool) {
	i, ok := p.find(k)
	if !ok || p.taken[i] {
		return 0, false
	}
	p.taken[i] = true
	return i, true
}

func (p *places) find(k Key) (int, bool) {
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
		return errors.New("only the backend itself writes floors")
	}
	if w.Delete {
		return nil
	}
	if len(r.Key) > MaxKeyBytes {
		return fmt.Errorf("the key has %d bytes, over %d", len(r.Key), MaxKeyBytes)
	}
	if len(r.Content) > MaxContentBytes {
		return fmt.Errorf("the content has %d bytes, over %d", len(r.Content), MaxContentBytes)
	}
	if r.Revision < 1 {
		return fmt.Errorf("revision %d; a record has one of at least 1", r.Revision)
	}
	for i, tag := range r.Tags {
		if tag == "" || len(tag) > MaxTagBytes || slices.Contains(r.Tags[:i], tag) {
			return fmt.Errorf("a tag is empty, given twice or has over %d bytes", MaxTagBytes)
		}
	}
	return nil
}

// normal returns r with its times in the precision that every backend keeps.
func (r Record) normal() Record {
	for _, t := range []*time.Time{&r.Created, &r.Updated, &r.Expires} {
		*t = time.UnixMicro(t.UnixMicro()).UTC()
	}
	return r
}
