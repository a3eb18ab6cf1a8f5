package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/collection"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// These constants limit a move of a collection to another embedder.
const (
	// movedEntries is the maximum number of entries of a batch and of a page. movedPages is the
	// maximum number of pages that one batch reads.
	movedEntries, movedPages = 64, 16
	// moveLease is the time after which another process can continue a move whose process has
	// ended.
	moveLease = 2 * time.Minute
	// moveKept is the time for which the progress of an interrupted move is kept.
	moveKept = 90 * 24 * time.Hour
)

// Move computes new vectors for the entries of a collection with another embedder, in batches. A
// Move is not safe for concurrent use. In each collection of a tenant, only one Move at a time is
// in progress.
//
// When a move begins, it changes the pin, which is the record of the embedder. Every run that
// writes an entry reads the pin. Therefore, every entry that is committed after this change has a
// vector of the new space. The move replaces the vectors of the other entries in the order of their
// keys.
type Move struct {
	s      *Service
	st     *store
	caller partition.Caller
	to     kind.VectorSpace
	holder string
	state  moveState
}

// moveState is the stored form of the progress of a move.
type moveState struct {
	// To is the vector space to which the entries are moved.
	To pin `json:"to"`
	// After is the key of the last entry that the move examined. The record that contains the
	// moveState has the tags of this entry. If the user of the entry is erased, the erasure removes
	// the record, and the move starts again.
	After []byte `json:"after,omitempty"`
	Moved int    `json:"moved"`
	// Holder identifies the process that moves entries. The lease of this process ends at the time
	// Until.
	Holder string    `json:"holder,omitempty"`
	Until  time.Time `json:"until"`
}

// MoveBatch contains entries that need new vectors. It can be empty.
type MoveBatch struct {
	// Texts contains the text of each entry.
	Texts   []string
	records []storage.Record
	bytes   int
	next    storage.Key // the key of the last entry that the batch examined
	tags    []string    // the tags of the entry with this key
	last    bool
}

// EmbeddingOf returns the name of the embedder that a collection uses.
func EmbeddingOf(s *Service, name string) (string, error) {
	st := lookup(s, name)
	if st == nil || st.Kind != declare.KindCollection {
		return "", noCollection(name)
	}
	return st.Collection.WithDefaults().Embedding, nil
}

// BeginMove begins or continues a move of a collection. The target is the vector space of the
// embedder. The result is nil if the collection has no entries, or if its entries already have
// vectors of this space. If another process is moving the collection, BeginMove returns the fault
// conflict. The argument "holder" identifies the process. No other process may use the same value.
func BeginMove(ctx context.Context, s *Service, tenant, name, holder string, to kind.VectorSpace) (*Move, error) {
	st := lookup(s, name)
	if st == nil || st.Kind != declare.KindCollection {
		return nil, noCollection(name)
	}
	if err := checkDim(st.Collection.WithDefaults().Embedding, to.Dim); err != nil {
		return nil, err
	}
	m := &Move{s: s, st: st, caller: partition.Caller{Tenant: tenant}, to: to, holder: holder}
	needed := false
	err := m.update(ctx, nil, func(t moveTurn) ([]storage.Write, error) {
		p, progress := t.pin, t.progress
		if needed = p != nil && (p.MovingTo != nil || p.space() != to); !needed {
			return nil, nil
		}
		if progress.Holder != "" && s.now().Before(progress.Until) {
			return nil, m.busy()
		}
		moving, tags := pinOf(to), t.old.Tags
		if progress.To.space() != to {
			progress, tags = moveState{To: moving}, nil
		}
		m.state = m.renewed(progress)
		writes := []storage.Write{m.progressWrite(tags)}
		if p.MovingTo == nil || p.MovingTo.space() != to {
			next := pin{Embedder: p.Embedder, Dim: p.Dim, MovingTo: &moving, Maker: p.Maker}
			writes = append(writes, m.pinWrite(next))
		}
		return writes, nil
	})
	if err != nil || !needed {
		return nil, err
	}
	return m, nil
}

// busy returns the fault for a collection that another process is moving.
func (m *Move) busy() error {
	f := abi.Faultf(abi.Conflict, "another process is moving the entries of the collection %s to another embedding model", kind.Quote(m.st.Name))
	f.Store = m.st.Name
	return f.WithHint("wait until the other process has ended; if that process was killed, retry after %d minutes", int(moveLease/time.Minute))
}

// renewed returns a copy of the progress with a new lease.
func (m *Move) renewed(progress moveState) moveState {
	progress.Holder, progress.Until = m.holder, m.s.now().Add(moveLease)
	return progress
}

func (m *Move) pinKey() storage.Key  { return m.s.app.Embedding(m.caller, m.st.Name) }
func (m *Move) moveKey() storage.Key { return m.s.app.Reembed(m.caller, m.st.Name) }

// pinWrite returns the write that stores a pin. The method "update" adds the revision to this
// write.
func (m *Move) pinWrite(p pin) storage.Write {
	content, _ := json.Marshal(p) // texts and numbers are always valid
	return storage.Write{Record: storage.Record{Key: m.pinKey(), Content: content}}
}

// moveTurn contains the records that one update of the move reads.
type moveTurn struct {
	pin      *pin // nil if the collection has no pin
	progress moveState
	old      storage.Record   // the record with the progress of the move
	now      []storage.Record // the records with the additional keys
}

// update reads the records of the move and the records with the additional keys, and passes them to
// a function. The method stores the writes that the function returns. update adds revisions to the
// writes of the move's own records.
func (m *Move) update(ctx context.Context, keys []storage.Key, decide func(moveTurn) ([]storage.Write, error)) error {
	all := append([]storage.Key{m.pinKey(), m.moveKey()}, keys...)
	err := m.s.backend.Update(ctx, storage.Keys(all...), func(now []storage.Record) ([]storage.Write, error) {
		t := moveTurn{old: now[1], now: now[2:]}
		if now[0].Exists() {
			p, err := pinIn(now[0])
			if err != nil {
				return nil, err
			}
			t.pin = &p
		}
		if now[1].Exists() {
			if err := json.Unmarshal(now[1].Content, &t.progress); err != nil {
				return nil, fmt.Errorf("record %s: %w: %w", now[1].Key, storage.ErrCorrupt, err)
			}
		}
		writes, err := decide(t)
		for i := range writes {
			for j, key := range all[:2] {
				if r := &writes[i].Record; r.Key == key && !writes[i].Delete {
					m.stamp(r, now[j])
				}
			}
		}
		return writes, err
	})
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return err
	}
	return m.s.records.Fault("move entries", err)
}

// stamp completes a host record that replaces another record.
func (m *Move) stamp(r *storage.Record, old storage.Record) {
	r.Revision, r.Created, r.Updated, r.Generation, r.Run = old.Revision+1, old.Created, m.s.now(), old.Generation, m.holder
	if !old.Exists() {
		r.Created, r.Generation = r.Updated, m.holder
	}
	if r.Key == m.moveKey() {
		r.Expires = r.Updated.Add(moveKept)
	}
}

// checkLease returns a fault if another process has taken over the move.
func (m *Move) checkLease(t moveTurn) error {
	if t.pin == nil || t.pin.MovingTo == nil || t.pin.MovingTo.space() != m.to || t.progress.Holder != "" && t.progress.Holder != m.holder {
		return m.busy()
	}
	return nil
}

func (m *Move) progressWrite(tags []string) storage.Write {
	content, _ := json.Marshal(m.state) // texts and numbers are always valid
	return storage.Write{Record: storage.Record{Key: m.moveKey(), Content: content, Tags: tags}}
}

// Next returns the next entries that need vectors. The batch contains at most n entries, and never
// more than 64 entries. If the batch contains more than one entry, the total size of the texts is
// at most "bytes".
func (m *Move) Next(ctx context.Context, n, bytes int) (MoveBatch, error) {
	b := MoveBatch{next: storage.Key(m.state.After)}
	if err := m.s.records.SpaceFault(storage.Space(m.s.backend)); err != nil {
		return b, err
	}
	life := newLifetimes(m.s)
	for range movedPages {
		page, err := m.s.backend.Scan(ctx, prefixOf(m.s.app.Group(m.caller), m.st.Name), b.next, movedEntries)
		if err != nil {
			return b, m.s.records.Fault("move entries", err)
		}
		for _, r := range page {
			full, err := m.add(ctx, &b, life, r, min(n, movedEntries), bytes)
			if err != nil || full {
				return b, m.s.records.Fault("move entries", err)
			}
		}
		if len(page) < movedEntries {
			b.last = true
			return b, nil
		}
	}
	return b, nil
}

// add adds an entry to a batch if the entry needs a vector. The result is true if the batch has no
// space for the entry.
func (m *Move) add(ctx context.Context, b *MoveBatch, life *lifetimes, r storage.Record, n, bytes int) (full bool, err error) {
	text := ""
	if r.Key.Part(storage.Namespace) != "" {
		visible, err := life.visible(ctx, m.st, r)
		if err != nil {
			return false, err
		}
		if visible {
			if text, err = collection.TextToMove(r, m.to.ID()); err != nil {
				return false, err
			}
		}
	}
	if text != "" {
		if len(b.Texts) == n || len(b.Texts) > 0 && b.bytes+len(text) > bytes {
			return true, nil
		}
		b.bytes += len(text)
		b.Texts, b.records = append(b.Texts, text), append(b.records, r)
	}
	b.next, b.tags = r.Key, r.Tags
	return false, nil
}

// Store replaces the vectors of the entries of a batch and stores the progress of the move, in one
// transaction. Store skips an entry that has changed since the call of Next. Store also skips an
// entry that was removed or that already has a vector of the new space. Store increases the
// revision of an entry. Store does not change the times, the owner and the author of an entry.
// Store returns the entries that it has replaced. If the result "done" is true, all entries have
// been moved, and the caller must call Finish.
func (m *Move) Store(ctx context.Context, b MoveBatch, vectors [][]float32) (effects []report.WriteEffect, done bool, err error) {
	contents, keys := make([][]byte, len(b.records)), make([]storage.Key, len(b.records))
	for i, r := range b.records {
		if contents[i], err = collection.WithVector(r.Content, m.to.ID(), vectors[i]); err != nil {
			return nil, false, m.s.records.Fault("move entries", err)
		}
		keys[i] = r.Key
	}
	before := m.state
	err = m.update(ctx, keys, func(t moveTurn) ([]storage.Write, error) {
		if err := m.checkLease(t); err != nil {
			return nil, err
		}
		var writes []storage.Write
		if writes, effects, err = m.moved(b, t.now, contents); err != nil {
			return nil, err
		}
		m.state = m.renewed(before)
		m.state.After, m.state.Moved, done = []byte(b.next), before.Moved+len(effects), b.last
		tags := b.tags
		if !t.old.Exists() { // the user of the last entry was erased, so the key of the entry must not be stored
			m.state.After, done, tags = nil, false, nil
		}
		return append(writes, m.progressWrite(tags)), nil
	})
	if err != nil {
		m.state = before
		return nil, false, err
	}
	m.s.index.Refresh(keys...)
	return effects, done, nil
}

// moved returns the writes for a batch. moved omits entries that have changed.
func (m *Move) moved(b MoveBatch, now []storage.Record, contents [][]byte) (writes []storage.Write, effects []report.WriteEffect, err error) {
	for i, r := range now {
		switch {
		case !r.Exists():
			continue
		case !r.SameVersion(b.records[i]):
			if text, err := collection.TextToMove(r, m.to.ID()); err != nil || text != "" {
				return nil, nil, cmp.Or(err, fmt.Errorf("record %s: an entry was stored with a vector of another space", r.Key))
			}
			continue
		}
		r.Content, r.Revision = contents[i], r.Revision+1
		writes = append(writes, storage.Write{Record: r})
		effects = append(effects, report.WriteEffect{Store: m.st.Name, Item: kind.ItemOf(r.Key), Revision: r.Revision, Op: "set"})
	}
	return writes, effects, nil
}

// Finish ends the move. The new vector space becomes the collection's only vector space.
func (m *Move) Finish(ctx context.Context) error {
	return m.update(ctx, nil, func(t moveTurn) ([]storage.Write, error) {
		if err := m.checkLease(t); err != nil {
			return nil, err
		}
		next := pinOf(m.to)
		if t.pin != nil {
			next.Maker = t.pin.Maker
		}
		return []storage.Write{m.pinWrite(next), {Record: storage.Record{Key: m.moveKey()}, Delete: true}}, nil
	})
}

// Release ends the lease. After the release, another process can continue the move at once.
func (m *Move) Release(ctx context.Context) error {
	return m.update(ctx, nil, func(t moveTurn) ([]storage.Write, error) {
		if !t.old.Exists() || t.progress.Holder != m.holder {
			return nil, nil
		}
		m.state.Holder, m.state.Until = "", time.Time{}
		return []storage.Write{m.progressWrite(t.old.Tags)}, nil
	})
}

// Moved returns the number of entries whose vectors the move has replaced so far.
func (m *Move) Moved() int { return m.state.Moved }
