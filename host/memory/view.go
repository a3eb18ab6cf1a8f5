package memory

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
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
	// partitions are the parts of stores that the attempt touched.
	partitions []*storePartition
	// usage is what the accounts of the run's budget held when the attempt first looked.
	usage []storage.Usage
	// written is the sum of all that the attempt wrote, as if nothing had been replaced.
	written storage.Usage
	// over is set once the attempt cannot succeed any more.
	over error
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
	p, own, err := v.openCall(call)
	if err != nil {
		return nil, err
	}
	reply, err := p.perform(ctx, own)
	if err != nil {
		return nil, v.failed(ctx, err, call.Op, p.store.Name)
	}
	return reply, nil
}

// openCall returns the partition that a call acts on, and the call with the arguments that its kind declares.
func (v *View) openCall(call abi.Call) (*storePartition, abi.Call, error) {
	op, ok := operationOf(v.s, call.Op)
	if !ok {
		return nil, call, inCall(abi.Faultf(abi.InvalidArgument, "memory has no operation %s", kind.Quote(call.Op)), call.Op, "")
	}
	to, err := op.resolve(call)
	if err != nil {
		return nil, call, inCall(err, call.Op, "")
	}
	p, err := v.open(op, to.name)
	if err == nil {
		err = v.s.kinds.checkKind(op, call.Op, p.store, to.implied)
	}
	if err != nil {
		return nil, call, inCall(err, call.Op, to.name)
	}
	return p, to.call, nil
}

// operationOf returns an operation of the table of a Service. A zero View, which has no Service, has those on documents, and
// no rights.
func operationOf(s *Service, name string) (op operation, ok bool) {
	if s == nil {
		documents, _ := newKinds(nil)
		op, ok = documents.operations[name]
		return op, ok
	}
	op, ok = s.kinds.operations[name]
	return op, ok
}

// CallWith performs an operation within the attempt under another Authority than the View's own.
func (v *View) CallWith(ctx context.Context, a Authority, call abi.Call) (json.RawMessage, error) {
	own := v.authority
	v.authority = a
	defer func() { v.authority = own }()
	return v.Call(ctx, call)
}

// open finds the partition that a call is about and checks that the View may do it. A store that was not
// granted does not exist.
func (v *View) open(op operation, name string) (*storePartition, error) {
	grant, granted := v.authority.grant(name)
	if !granted {
		return nil, v.noStore(name)
	}
	st := v.s.stores[name]
	if name == declare.SessionMeta {
		st = v.s.meta
	}
	if st == nil {
		return nil, v.noStore(name)
	}
	if st == v.s.meta && op.verb != abi.Read {
		return nil, abi.Faultf(abi.ReadOnly, "%s can be read, but only the host writes it", declare.SessionMeta)
	}
	if err := v.authority.check(grant, op.verb); err != nil {
		return nil, err
	}
	if st == v.s.meta {
		return v.partition(st, v.run.sessionKey), nil
	}
	key, err := st.key(v.s.app.Group(v.caller), v.caller, v.authority.holder())
	if err != nil {
		return nil, err
	}
	return v.partition(st, key), nil
}

// noStore reports that there is no such store. It proposes only stores that were granted: a guest must not find out
// which others there are.
func (v *View) noStore(name string) error {
	if v.authority.Unrestricted() {
		return notDeclared(name, v.s.names)
	}
	f := abi.Faultf(abi.NotFound, "there is no store %s, or this tool was not granted it", kind.Quote(name))
	if near := spell.Name(name, v.authority.stores()); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f.WithHint("declare the store in the app file and grant it to the tool")
}

// notDeclared is noStore for who may know all stores.
func notDeclared(name string, stores []string) error {
	f := abi.Faultf(abi.NotFound, "there is no store %s", kind.Quote(name))
	if near := spell.Name(name, stores); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	if len(stores) == 0 {
		return f.WithHint("the app declares no stores")
	}
	return f.WithHint("the stores are: %s", strings.Join(stores, ", "))
}

// partition returns the attempt's partition under a key. An attempt touches few of them.
func (v *View) partition(st *store, key storage.Key) *storePartition {
	for _, p := range v.partitions {
		if p.key == key {
			return p
		}
	}
	p := &storePartition{view: v, store: st, key: key}
	v.partitions = append(v.partitions, p)
	return p
}

// nameOf returns the name of the store of a record that the attempt touched, and the record's item, "" for none.
func (v *View) nameOf(key storage.Key) (store, item string) {
	if st, item := v.storeOf(key); st != nil {
		return st.Name, item
	}
	return key.Part(storage.Store), key.Part(storage.Item)
}

// storeOf returns the store of a record that the attempt touched, and the record's item. The store is nil if the attempt
// touched none that holds the record.
func (v *View) storeOf(key storage.Key) (st *store, item string) {
	for _, p := range v.partitions {
		if p.key == key {
			return p.store, ""
		}
		if p.key != "" && key.HasPrefix(p.key) {
			return p.store, key.Part(storage.Item)
		}
	}
	return nil, ""
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
	g.Op, g.Store = op, kind.Shorten(store)
	return &g
}
