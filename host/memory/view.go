package memory

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
	"github.com/toolrun/toolrun/internal/spell"
)

// View is the memory that one attempt of a run may see. It is bound to a caller and to an Authority, holds the
// attempt's reads and writes, and is used by one goroutine at a time. The zero View reaches nothing.
//
// Its methods return an *abi.Fault for what a guest did wrong, which leaves the View as it was; any other
// error means that the attempt is over and must not go on.
type View struct {
	s         *Service
	caller    partition.Caller
	authority Authority
	run       *transaction
	// tx is the kernel's, which holds what the attempt read and wrote.
	tx *txn.Tx
	// entries are the records that the attempt touched.
	entries []*entry
	// usage is what the accounts of the run's budget held when the attempt first looked.
	usage []storage.Usage
	// over is set once the attempt cannot succeed any more.
	over error
}

// entry is one record that an attempt touches.
type entry struct {
	store *store // nil for sessionMeta
	name  string
	key   storage.Key // "" for sessionMeta without a session
}

// Caller returns for whom the View acts.
func (v *View) Caller() partition.Caller { return v.caller }

// Now returns the run's time.
func (v *View) Now() time.Time { return v.tx.Now() }

// Call performs an operation of the table on behalf of a guest and returns its reply as JSON.
func (v *View) Call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	if v.over != nil {
		return nil, v.over
	}
	perform := performers[call.Op]
	e, err := v.opened(call, perform != nil)
	if err != nil {
		return nil, err
	}
	reply, err := perform(v, ctx, e, call)
	if err != nil {
		return nil, v.failed(ctx, err, call.Op, e.name)
	}
	return reply, nil
}

// opened returns the record that a call is about.
func (v *View) opened(call abi.Call, known bool) (*entry, error) {
	op, ok := operationsOf(v.s).Lookup(call.Op)
	if !ok || !known {
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
	return e, nil
}

// operationsOf returns the operations of a Service. A zero View, which has no Service, has them too, and no rights.
func operationsOf(s *Service) abi.Table {
	if s == nil {
		return Operations()
	}
	return s.operations
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

// entry returns the attempt's entry for a key. An attempt touches few records.
func (v *View) entry(st *store, name string, key storage.Key) *entry {
	for _, e := range v.entries {
		if e.key == key {
			return e
		}
	}
	e := &entry{store: st, name: name, key: key}
	v.entries = append(v.entries, e)
	return e
}

// nameOf returns the name of the store of a record that the attempt touched.
func (v *View) nameOf(key storage.Key) string {
	for _, e := range v.entries {
		if e.key == key {
			return e.name
		}
	}
	return key.Part(storage.Store)
}

// failed decides what an error of a call means: a Fault goes to the guest, a dead context or a conflict ends the
// attempt, and anything else is the backend's trouble, which the guest learns as unavailable and no more.
func (v *View) failed(ctx context.Context, err error, op, name string) error {
	if errors.Is(err, txn.ErrConflict) {
		v.over = err
		return err
	}
	if errors.Is(err, txn.ErrLimit) {
		err = abi.Faultf(abi.CallLimit, "the run reads and writes more than %d records, or %d MiB of contents", txn.MaxRecords, txn.MaxBytes>>20).
			WithHint("read and write less in one run")
	}
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return inCall(err, op, name)
	}
	if ctx.Err() != nil {
		v.over = ctx.Err()
		return v.over
	}
	return inCall(v.s.records.Unavailable("memory call", err), op, name) // a deadline of the backend's own, too
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
