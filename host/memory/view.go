package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/internal/spell"
)

// errConflict ends an attempt whose records changed under it. No guest sees it: Transact runs the body again.
var errConflict = errors.New("a record changed during the attempt")

// View is the memory that one attempt of a run may see. It is bound to a caller and to an Authority, holds the
// attempt's reads and writes, and is used by one goroutine at a time. The zero View reaches nothing.
//
// Its methods return an *abi.Fault for what a guest did wrong, which leaves the View as it was; any other
// error means that the attempt is over and must not go on.
type View struct {
	s         *Service
	caller    Caller
	authority Authority
	// looks is true where the attempt does not begin its session.
	looks bool
	// dry is true where nothing is stored, what the session is given included.
	dry   bool
	given SessionStart
	// now is the attempt's time: what it writes into records.
	now time.Time
	anchors
	// entries are the records that the attempt touched, in the order in which it did.
	entries []*entry
	// held is the usage of the app and the user when first looked at.
	held      *holdings
	accounted *account
	// turn are the turns that the attempt holds; nil for none.
	turn *held
	memo *memo
	// over is set once the attempt cannot succeed any more.
	over error
}

// entry is one record as the attempt sees it.
type entry struct {
	store *store // nil for sessionMeta
	name  string
	key   storage.Key
	// base is the record as it was when first looked at; a zero Record where there was none, or none alive.
	base storage.Record
	// raw is what lies under the key, alive or not.
	raw storage.Record
	// above is the revision above which the record begins if the attempt creates it, where that was looked up.
	above int64
	// ends are the keys of foreign sessions that the record's life depends on.
	ends []storage.Key
	// read is true where the guest learnt something about the record: the attempt then stands or falls with it.
	read bool
	// wrote is true where the attempt wrote the record, or removed it, and draft is what came of it on base.
	wrote bool
	draft draft
	// blind are the writes, in order, as long as the attempt does not depend on the record: the commit does them again
	// on the latest content. blindBytes is how much they hold.
	blind      []write
	blindBytes int
	// begins is true once above was looked up, on which the attempt then depends.
	begins bool
	// generation is what the record gets if the attempt creates it.
	generation string
}

// Caller returns for whom the View acts.
func (v *View) Caller() Caller { return v.caller }

// Now returns the attempt's time.
func (v *View) Now() time.Time { return v.now }

// Call performs an operation of the table on behalf of a guest and returns its reply as JSON.
func (v *View) Call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	if v.over != nil {
		return nil, v.over
	}
	op, ok := abi.LookupOperation(call.Op)
	perform := performers[call.Op]
	if !ok || perform == nil {
		return nil, inCall(abi.Faultf(abi.InvalidArgument, "memory has no operation %s", quote(call.Op)), call.Op, "")
	}
	name, err := storeName(call.Arg(0))
	if err != nil {
		return nil, inCall(err, call.Op, "")
	}
	e, err := v.open(op, name)
	if err != nil {
		return nil, inCall(err, call.Op, name)
	}
	reply, err := perform(v, ctx, e, call)
	if err != nil {
		return nil, v.failed(ctx, err, call.Op, name)
	}
	return reply, nil
}

// CallWith performs an operation within the attempt under another Authority than the View's own.
func (v *View) CallWith(ctx context.Context, a Authority, call abi.Call) (json.RawMessage, error) {
	own := v.authority
	v.authority = a
	defer func() { v.authority = own }()
	return v.Call(ctx, call)
}

// performers do what the operations of abi's table say.
var performers = map[string]func(*View, context.Context, *entry, abi.Call) (json.RawMessage, error){
	abi.GetContent:    (*View).get,
	abi.SetContent:    (*View).set,
	abi.DeleteContent: (*View).delete,
}

// open finds the record that a call is about and checks that the View may do it. A store that was not
// granted does not exist.
func (v *View) open(op abi.Operation, name string) (*entry, error) {
	grant, granted := v.authority.grant(name)
	if !granted {
		return nil, v.noStore(name)
	}
	st := v.s.stores[name]
	if st == nil && name != declare.SessionMeta {
		return nil, v.noStore(name)
	}
	if name == declare.SessionMeta && op.Verb != abi.Read {
		return nil, abi.Faultf(abi.ReadOnly, "%s can be read, but only the host writes it", declare.SessionMeta)
	}
	if err := v.authority.check(grant, op.Verb); err != nil {
		return nil, err
	}
	if name == declare.SessionMeta {
		return v.metaEntry(), nil
	}
	key, err := v.s.recordKey(st, v.caller, v.authority.holder())
	if err != nil {
		return nil, err
	}
	return v.entry(st, name, key), nil
}

// noStore reports that there is no such store. It proposes only stores that were granted: a guest must not find out
// which others there are.
func (v *View) noStore(name string) error {
	if v.authority.Unrestricted() {
		return notDeclared(name, v.s.names)
	}
	f := abi.Faultf(abi.NotFound, "there is no store %s, or this tool was not granted it", quote(name))
	if near := spell.Name(name, v.authority.stores()); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f.WithHint("declare the store in the app file and grant it to the tool")
}

// notDeclared is noStore for who may know all stores.
func notDeclared(name string, stores []string) error {
	f := abi.Faultf(abi.NotFound, "there is no store %s", quote(name))
	if near := spell.Name(name, stores); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	if len(stores) == 0 {
		return f.WithHint("the app declares no stores")
	}
	return f.WithHint("the stores are: %s", strings.Join(stores, ", "))
}

// entry returns the attempt's entry for a key, a new one where it has none.
func (v *View) entry(st *store, name string, key storage.Key) *entry {
	if e := v.find(key); e != nil {
		return e
	}
	return &entry{store: st, name: name, key: key}
}

// find returns the entry that was loaded for a key, or nil. An attempt touches few records.
func (v *View) find(key storage.Key) *entry {
	for _, e := range v.entries {
		if e.key == key {
			return e
		}
	}
	return nil
}

// failed decides what an error of a call means: a Fault goes to the guest, a dead context or a conflict ends the
// attempt, and anything else is the backend's trouble, which the guest learns as unavailable and no more.
func (v *View) failed(ctx context.Context, err error, op, name string) error {
	if errors.Is(err, errConflict) {
		v.over = errConflict
		return errConflict
	}
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return inCall(err, op, name)
	}
	if ctx.Err() != nil {
		v.over = ctx.Err()
		return v.over
	}
	return inCall(v.s.unavailable("memory call", err), op, name) // a deadline of the backend's own, too
}

// unavailable logs a backend's error and returns what others may know of it.
func (s *Service) unavailable(doing string, err error) error {
	s.log.Error("the backend failed", "doing", doing, "error", err)
	return abi.Faultf(abi.Unavailable, "the memory backend failed").WithHint("try again later; the host's log says why")
}

// inCall says in a fault which call it comes from.
func inCall(err error, op, store string) error {
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		return err
	}
	g := *f
	g.Op, g.Store = op, shortened(store)
	return &g
}

// load brings an entry into the attempt and, where read is set, into the records that it depends on. In the same
// snapshot, every record read before is looked at again: the attempt ends at once if one has changed, so
// that no guest acts on a torn state.
func (v *View) load(ctx context.Context, e *entry, read bool) error {
	known := v.find(e.key) != nil
	if e.key == "" || known && (e.read || !read) {
		return nil // without a session, sessionMeta has no record behind it
	}
	if known {
		// Looked at before, but only now depended on: what was seen then must still hold.
		if err := v.recheck(ctx, e); err != nil {
			return err
		}
		e.read, e.blind, e.blindBytes = true, nil, 0
		return nil
	}
	for {
		snap, err := v.look(ctx, e)
		if err != nil {
			return err
		}
		if joined, err := v.join(snap, e, read); joined || err != nil {
			return err
		}
	}
}

// join takes an entry into the attempt as it is in a snapshot. It reports false if the snapshot lacks a session that the
// record's life depends on, which the next one then has.
//
// It is not part of load because its records would be on the stack during the read, which is the deepest point of a run:
// stacks that outgrow the next power of two are copied.
func (v *View) join(snap snapshot, e *entry, read bool) (bool, error) {
	raw, _ := snap.record(e.key)
	base, known := v.alive(snap, e.store, raw)
	if !known {
		e.ends = v.foreignEnds(raw)
		return false, nil
	}
	if err := v.verify(snap, v.entries); err != nil {
		return false, err
	}
	e.raw, e.base, e.read = raw, base, read
	e.draft = draftOf(e.base)
	v.entries = append(v.entries, e)
	return true, nil
}

// recheck looks again at all records that the attempt depends on, and at more.
func (v *View) recheck(ctx context.Context, more ...*entry) error {
	snap, err := v.look(ctx, more...)
	if err != nil {
		return err
	}
	return v.verify(snap, append(v.entries[:len(v.entries):len(v.entries)], more...), more...)
}

// verify fails with errConflict where a record that the attempt depends on is not what it was. Entries in also
// are depended on whether they are marked as read or not.
func (v *View) verify(snap snapshot, entries []*entry, also ...*entry) error {
	for _, e := range entries {
		if !e.read && !slices.Contains(also, e) {
			continue
		}
		if now, known := v.aliveNow(snap, e); !known || !now.SameVersion(e.base) {
			return errConflict
		}
		if e.begins && aboveIn(snap, e) != e.above {
			return errConflict
		}
	}
	return nil
}

// appendKeys appends the keys that say how the record stands.
func (e *entry) appendKeys(keys []storage.Key) []storage.Key {
	keys = append(append(keys, e.key), e.ends...)
	if e.begins {
		keys = append(keys, storage.FloorKey(e.key))
	}
	return keys
}

// snapshot is several records as they were at one moment.
type snapshot struct {
	at      time.Time
	keys    []storage.Key
	records []storage.Record
}

// record returns what is under a key, and false where the snapshot does not hold the key.
func (snap snapshot) record(key storage.Key) (storage.Record, bool) {
	if i := slices.Index(snap.keys, key); i >= 0 {
		return snap.records[i], true
	}
	return storage.Record{}, false
}

// look reads the records that the attempt depends on, and more, in one snapshot.
func (v *View) look(ctx context.Context, more ...*entry) (snapshot, error) {
	keys := make([]storage.Key, 0, len(v.entries)+len(more)+1)
	for _, e := range v.entries {
		if e.read {
			keys = e.appendKeys(keys)
		}
	}
	for _, e := range more {
		keys = e.appendKeys(keys)
	}
	records, err := v.s.backend.Get(ctx, keys...)
	if err != nil {
		return snapshot{}, err
	}
	if len(records) != len(keys) {
		return snapshot{}, fmt.Errorf("the backend answered %d records for %d keys", len(records), len(keys))
	}
	return v.s.snapshot(keys, records), nil
}

func (s *Service) snapshot(keys []storage.Key, records []storage.Record) snapshot {
	return snapshot{at: s.now(), keys: keys, records: records}
}

// aliveNow is alive for what the snapshot holds of an entry.
func (v *View) aliveNow(snap snapshot, e *entry) (storage.Record, bool) {
	r, ok := snap.record(e.key)
	if !ok {
		return storage.Record{}, false
	}
	return v.alive(snap, e.store, r)
}

// alive returns the record as callers see it: none where its lifetime has ended, by time or by event. It
// answers false where that depends on a session that is not in the snapshot.
func (v *View) alive(snap snapshot, st *store, r storage.Record) (storage.Record, bool) {
	if !r.Exists() || !snap.at.Before(v.s.endOf(st, r)) {
		return storage.Record{}, true
	}
	for _, key := range v.foreignEnds(r) {
		session, ok := snap.record(key)
		if !ok {
			return storage.Record{}, false
		}
		if !v.s.sessionOpen(session, snap.at) {
			return storage.Record{}, true
		}
	}
	return r, true
}

// never is later than every time that a record can hold.
var never = time.Unix(1<<40, 0)

// endOf returns when a record's lifetime ends: when it says so, or earlier where the store's retention has
// been shortened since.
func (s *Service) endOf(st *store, r storage.Record) time.Time {
	end := never
	if !r.Expires.IsZero() {
		end = r.Expires
	}
	if st != nil && st.Retention.For > 0 {
		if shorter := r.Updated.Add(st.Retention.For); shorter.Before(end) {
			return shorter
		}
	}
	return end
}

// foreignEnds returns the keys of the sessions whose end is the record's end, but for the caller's own session,
// which the attempt depends on anyhow.
func (v *View) foreignEnds(r storage.Record) []storage.Key {
	var keys []storage.Key
	for _, tag := range r.Tags {
		if key, ok := sessionOfTag(tag); ok && (v.caller.Session == "" || key != v.s.sessionKey(v.caller)) {
			keys = append(keys, key)
		}
	}
	return keys
}
