package txn_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
)

// modelState is the expected content of the backend. The methods of modelState return new states,
// except the method "remove", which modifies a state.
type modelState struct {
	records map[storage.Key]storage.Record
	floors  map[storage.Key]int64
}

func (w modelState) clone() modelState {
	return modelState{maps.Clone(w.records), maps.Clone(w.floors)}
}

// remove deletes a record from w and raises the floor of its key.
func (w modelState) remove(key storage.Key) {
	floor := storage.FloorKey(key)
	w.floors[floor] = max(w.floors[floor], w.records[key].Revision)
	delete(w.records, key)
}

// mirror returns the state of the backend. The argument w is the previous state. The returned state
// contains the current records, and the floors of the records that were removed since the previous
// state.
func (w modelState) mirror(b storage.Backend, prefix storage.Key) (modelState, error) {
	found, err := b.Scan(context.Background(), prefix, "", 10_000)
	if err != nil {
		return w, err
	}
	next := w.clone()
	stored := map[storage.Key]bool{}
	for _, r := range found {
		stored[r.Key], next.records[r.Key] = true, r
	}
	for key := range w.records {
		if !stored[key] {
			next.remove(key)
		}
	}
	return next, nil
}

// visible reports whether a record is visible at a time.
func (w modelState) visible(r storage.Record, at time.Time) bool {
	if !r.Exists() || !r.Expires.IsZero() && !at.Before(r.Expires) {
		return false
	}
	for _, tag := range r.Tags {
		if string(w.records[sessionKey(r.Key.Part(storage.Tenant), tag)].Content) != "open" {
			return false
		}
	}
	return true
}

func sessionKey(tenant, tag string) storage.Key {
	return storage.MakeKey(storage.Part{Tag: storage.System, Value: "session"}, storage.Part{Tag: storage.Tenant, Value: tenant},
		storage.Part{Tag: storage.App, Value: "app"}, storage.Part{Tag: storage.Session, Value: strings.TrimPrefix(tag, "session/")})
}

// lifeOf returns the lifetime of a record in the form that txn expects.
func lifeOf(r storage.Record) txn.Life {
	if r.Key.HasPrefix(storage.MakeKey(storage.Part{Tag: storage.System, Value: "session"})) {
		if string(r.Content) != "open" {
			return txn.Life{Until: time.Unix(1, 0)}
		}
		return txn.Life{}
	}
	l := txn.Life{Until: r.Expires}
	for _, tag := range r.Tags {
		l.Depends = append(l.Depends, sessionKey(r.Key.Part(storage.Tenant), tag))
	}
	return l
}

// transaction is the transaction that a program uses. The implementations use a txn.Tx or a
// modelTx.
type transaction interface {
	get(storage.Key) (storage.Record, error)
	scan(prefix, after storage.Key, n int) ([]storage.Record, error)
	apply(storage.Key, txn.Update) error
	nested(func() error) error
	now() time.Time
}

// modelTx is a transaction on the model. No other transaction runs at the same time as a modelTx.
type modelTx struct {
	modelState
	at, stamp time.Time
	id        string
	wrote     map[storage.Key]storage.Record
	fresh     map[storage.Key]bool
	order     []storage.Key
}

func newModelTx(w modelState, at, stamp time.Time, id string) *modelTx {
	return &modelTx{modelState: w, at: at, stamp: stamp, id: id, wrote: map[storage.Key]storage.Record{}, fresh: map[storage.Key]bool{}}
}

func (s *modelTx) now() time.Time { return s.stamp }

func (s *modelTx) see(key storage.Key) storage.Record {
	if r, ok := s.wrote[key]; ok {
		return r
	}
	if r := s.records[key]; s.visible(r, s.at) {
		return r
	}
	return storage.Record{}
}

func (s *modelTx) get(key storage.Key) (storage.Record, error) { return s.see(key), nil }

func (s *modelTx) scan(prefix, after storage.Key, n int) (found []storage.Record, err error) {
	keys := map[storage.Key]bool{}
	for key := range s.records {
		keys[key] = true
	}
	for key := range s.wrote {
		keys[key] = true
	}
	for key := range keys {
		if r := s.see(key); r.Exists() && key.HasPrefix(prefix) && key > after {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b storage.Record) int { return cmp.Compare(a.Key, b.Key) })
	return found[:min(n, len(found))], nil
}

func (s *modelTx) apply(key storage.Key, update txn.Update) error {
	old := s.see(key)
	next, _, err := update(&old, false)
	if err != nil {
		return err
	}
	if _, ok := s.wrote[key]; !ok {
		s.order = append(s.order, key)
	}
	if next.Content == nil {
		s.wrote[key], s.fresh[key] = storage.Record{}, false
		return nil
	}
	raw := s.records[key]
	if !old.Exists() {
		s.fresh[key] = true
	}
	r := storage.Record{Key: key, Content: next.Content, Expires: next.Expires, Tags: next.Tags, Run: s.id, Updated: s.stamp, Created: s.stamp}
	if s.visible(raw, s.at) {
		r.Revision = raw.Revision + 1
		if !r.Updated.After(raw.Updated) {
			r.Updated = raw.Updated.Add(time.Microsecond)
		}
		if !s.fresh[key] {
			r.Created = raw.Created
		}
	} else {
		r.Revision = max(raw.Revision, s.floors[storage.FloorKey(key)]) + 1
	}
	s.wrote[key] = r
	return nil
}

func (s *modelTx) nested(body func() error) error {
	wrote, fresh, order := maps.Clone(s.wrote), maps.Clone(s.fresh), slices.Clone(s.order)
	err := body()
	if err != nil {
		s.wrote, s.fresh, s.order = wrote, fresh, order
	}
	return err
}

// commit returns the state of the model after the transaction.
func (s *modelTx) commit() modelState {
	w := s.clone()
	for key, r := range s.wrote {
		if r.Exists() {
			w.records[key] = r
		} else if w.records[key].Exists() {
			w.remove(key)
		}
	}
	return w
}

// realTx implements transaction with a txn.Tx.
type realTx struct {
	ctx context.Context
	tx  *txn.Tx
}

func (m realTx) now() time.Time { return m.tx.Now() }

func (m realTx) get(key storage.Key) (storage.Record, error) { return m.tx.Get(m.ctx, key) }

func (m realTx) scan(prefix, after storage.Key, n int) ([]storage.Record, error) {
	return m.tx.Scan(m.ctx, prefix, after, n)
}

func (m realTx) apply(key storage.Key, update txn.Update) error {
	return m.tx.Apply(m.ctx, key, update)
}

func (m realTx) nested(body func() error) error {
	return m.tx.Nested(m.ctx, func(context.Context, *txn.Tx) error { return body() })
}

// show formats the fields of a record that the tests compare.
func show(r storage.Record) string {
	if !r.Exists() {
		return "none"
	}
	end := ""
	if !r.Expires.IsZero() {
		end = " until " + r.Expires.Format("04:05")
	}
	return fmt.Sprintf("%s=%q r%d c%s u%s%s %v by %s", r.Key.Part(storage.Item), r.Content, r.Revision, clockText(r.Created), clockText(r.Updated), end, r.Tags, r.Run)
}

func clockText(t time.Time) string { return t.Format("04:05.000000") }

// differs describes the first difference between two states, or returns "" for equal states.
func (w modelState) differs(other modelState) string {
	for key := range w.records {
		if a, b := show(w.records[key]), show(other.records[key]); a != b {
			return fmt.Sprintf("%s: want %s, stored %s", key, a, b)
		}
	}
	for key, r := range other.records {
		if !w.records[key].Exists() {
			return fmt.Sprintf("%s: want none, stored %s", key, show(r))
		}
	}
	return ""
}

var errStop = errors.New("the trace ends here")
