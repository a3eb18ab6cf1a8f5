package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/collection"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn"
	"github.com/toolrun/toolrun/internal/spell"
)

// A View is the memory that one attempt of a run can access. A View is bound to a caller and to an
// Authority. A View collects the reads and writes of the attempt. A View is not safe for concurrent
// use. The zero View has no rights.
//
// If tool code makes a mistake, a method of the View returns an *abi.Fault and does not change the
// View. If a method returns an error of another type, the attempt has ended.
type View struct {
	s         *Service
	caller    partition.Caller
	authority Authority
	run       *transaction
	// tx is the txn transaction. tx contains the reads and writes of the attempt.
	tx *txn.Tx
	// partitions contains the partitions that the attempt has opened.
	partitions []*storePartition
	// usage contains the usage of the accounts in the budget of the run. The attempt reads this
	// usage only once.
	usage []storage.Usage
	// written is the total size of all writes of the attempt. Each write counts as if it had
	// created a record.
	written storage.Usage
	// embeds is the embedder that SetEmbedder has set, or nil. items is the number of random items
	// that the attempt has created.
	embeds kind.Embedder
	items  uint64
	// guard is the function that SetGuard has set, or nil.
	guard func() error
	// undeclared contains the numbers of stored collections without a declaration. Before the
	// attempt creates a collection without a declaration, "undeclared" is nil.
	undeclared *undeclaredCounts
	// mocks contains the mocks that SetMocks has set. Without mocks, it is the zero value.
	mocks mocks
	// closed contains an error if the attempt can no longer succeed.
	closed error
}

// Caller returns the caller of the run.
func (v *View) Caller() partition.Caller { return v.caller }

// Now returns the time of the run.
func (v *View) Now() time.Time { return v.tx.Now() }

// Seed returns the seed for random numbers of the run. The seed is the same in all attempts.
func (v *View) Seed() (uint64, error) {
	if seed := v.run.tx.Seed; seed != 0 {
		return seed, nil
	}
	return v.tx.Seed()
}

// Err returns the error that ended the attempt. If the attempt has not ended, Err returns nil.
// After this error, every call of the View fails.
func (v *View) Err() error { return v.closed }

// Call performs an operation for tool code and returns its reply as JSON.
func (v *View) Call(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	if v.closed != nil {
		return nil, v.closed
	}
	op, to, err := targetOf(v.s, call)
	if err != nil {
		return nil, err
	}
	if to.implied && to.name == "" {
		return callUnion(ctx, v, op, to.call)
	}
	p, err := v.openTarget(op, to)
	if err != nil {
		return nil, v.deniedItem(withCall(err, call.Op, to.name), op, to)
	}
	reply, err := p.perform(ctx, op.verb, to.call)
	if err != nil {
		return nil, v.classify(ctx, err, call.Op, p.store.Name)
	}
	return reply, nil
}

// targetOf returns the operation and the store of a call. If the operation acts on all stores of
// its kind, the name of the store is "".
func targetOf(s *Service, call abi.Call) (op operation, to target, err error) {
	op, ok := operationOf(s, call.Op)
	if !ok {
		return op, to, withCall(abi.Faultf(abi.InvalidArgument, "memory has no operation %s", kind.Quote(call.Op)), call.Op, "")
	}
	if to, err = op.resolve(call); err != nil {
		return op, to, withCall(err, call.Op, "")
	}
	return op, to, nil
}

// openTarget returns the partition that a call uses.
func (v *View) openTarget(op operation, to target) (*storePartition, error) {
	p, err := v.open(op, to.name)
	if err == nil {
		err = v.s.kinds.checkKind(op, to.call.Op, p.store, to.implied)
	}
	return p, err
}

// deniedItem adds the item of a call to the fault access_denied. If the items of the store cannot
// be granted separately, or if the error is not this fault, deniedItem returns the error unchanged.
func (v *View) deniedItem(err error, op operation, to target) error {
	f, ok := err.(*abi.Fault)
	if !ok || f.Code != abi.AccessDenied || v.s == nil || v.s.stores[to.name] == nil || v.s.stores[to.name].Access != declare.ScopeByItem {
		return err
	}
	described, _ := v.s.kinds.table.Lookup(to.call.Op)
	params := paramsAfterStore(described)
	var item string
	if len(params) == 0 || !params[0].Required || json.Unmarshal(to.call.Arg(0), &item) != nil || checkPath(item) != nil {
		return err
	}
	if denied, ok := v.authority.checkItem(to.name, item, op.verb).(*abi.Fault); ok && denied.Code == abi.AccessDenied {
		f = withCall(denied, f.Op, f.Store).(*abi.Fault)
	}
	f.Item = kind.Shorten(item)
	return f
}

// operationOf returns the operation with the given name in a Service. A zero View has no Service.
// For a zero View, operationOf returns only operations on documents.
func operationOf(s *Service, name string) (op operation, ok bool) {
	if s == nil {
		documents, _ := newKinds(nil, collection.Kind{})
		op, ok = documents.operations[name]
		return op, ok
	}
	op, ok = s.kinds.operations[name]
	return op, ok
}

// CallWith performs an operation in the attempt. The argument "a" replaces the Authority of the
// View for this operation.
func (v *View) CallWith(ctx context.Context, a Authority, call abi.Call) (json.RawMessage, error) {
	own := v.authority
	v.authority = a
	defer func() { v.authority = own }()
	return v.Call(ctx, call)
}

// open returns the partition of a store. open returns a fault if the View cannot perform the
// operation on the store. If a store is not granted, the View treats the store as if it did not
// exist.
func (v *View) open(op operation, name string) (*storePartition, error) {
	grant, granted := v.authority.grant(name, op.verb)
	if !granted {
		return nil, v.noStore(op.noun(), name)
	}
	st := v.s.stores[name]
	if st == nil && slices.Contains(op.stores, declare.KindCollection) {
		st = lookup(v.s, name)
	}
	if name == declare.SessionMeta {
		st = v.s.meta
	}
	if st == nil {
		return nil, v.noStore(op.noun(), name)
	}
	if grant.Item != "" && st.Access != declare.ScopeByItem { // the grant is for a fact
		return nil, v.noStore(op.noun(), name)
	}
	if st == v.s.meta && op.verb != abi.Read {
		return nil, abi.Faultf(abi.ReadOnly, "the store %s is read-only for tools", declare.SessionMeta)
	}
	if err := v.authority.check(grant, op.verb, op.noun()); err != nil {
		return nil, err
	}
	if st == v.s.meta {
		return v.partition(st, st.Access, v.run.sessionKey), nil
	}
	key, err := st.key(groupOf(v.s, st, v.caller), v.caller, v.authority.holder())
	if err != nil {
		return nil, err
	}
	return v.partition(st, st.Access, key), nil
}

// noStore returns the fault for a store that does not exist. The hint suggests only granted stores,
// because tool code must not learn other names of stores.
func (v *View) noStore(noun, name string) error {
	if v.authority.Unrestricted() {
		return notDeclared(noun, name, v.s.names)
	}
	f := abi.Faultf(abi.NotFound, "the %s %s does not exist or was not granted to this tool", noun, kind.Quote(name))
	if near := spell.Name(name, v.authority.stores()); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f.WithHint("declare the %[1]s in the app file, and grant the %[1]s to the tool", noun)
}

// notDeclared returns the fault for a store that does not exist. notDeclared is used if the
// Authority covers all stores.
func notDeclared(noun, name string, stores []string) error {
	f := abi.Faultf(abi.NotFound, "the %s %s does not exist", noun, kind.Quote(name))
	if near := spell.Name(name, stores); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	if len(stores) == 0 {
		return f.WithHint("the app declares no stores")
	}
	return f.WithHint("the declared stores are: %s", strings.Join(stores, ", "))
}

// partition returns the partition of the attempt that has the given key. A linear search is
// sufficient, because an attempt opens only a few partitions.
func (v *View) partition(st *store, scope declare.Scope, key storage.Key) *storePartition {
	for _, p := range v.partitions {
		if p.key == key {
			return p
		}
	}
	p := &storePartition{view: v, store: st, scope: scope, key: key}
	v.partitions = append(v.partitions, p)
	return p
}

// nameOf returns the names of the store and the item to which a record belongs. The attempt must
// have used the record. If the record has no item, the result "item" is "".
func (v *View) nameOf(key storage.Key) (store, item string) {
	if st, item := v.storeOf(key); st != nil {
		return st.Name, item
	}
	return key.Part(storage.Store), kind.ItemOf(key)
}

// storeOf returns the store and the item to which a record belongs. The attempt must have used the
// record. If the record belongs to no partition of the attempt, the result st is nil.
func (v *View) storeOf(key storage.Key) (st *store, item string) {
	for _, p := range v.partitions {
		if p.key == key {
			return p.store, ""
		}
		if p.key != "" && key.HasPrefix(p.key) {
			return p.store, kind.ItemOf(key)
		}
	}
	return nil, ""
}

// classify converts the error of a call for the engine. If the error is a fault, it remains
// unchanged, and the engine passes it to the tool code. A conflict ends the attempt. The end of the
// context also ends the attempt. classify converts every other error of the backend into the fault
// abi.Unavailable without details.
func (v *View) classify(ctx context.Context, err error, op, name string) error {
	if v.closed != nil { // an embedder has ended the attempt
		return v.closed
	}
	if errors.Is(err, txn.ErrConflict) {
		v.closed = err
		return err
	}
	if errors.Is(err, txn.ErrLimit) {
		err = abi.Faultf(abi.CallLimit, "the run exceeded its limits: %d records and %d MiB of reads, %d records and %d MiB of writes",
			txn.MaxRecords, txn.MaxBytes>>20, txn.MaxWrites, txn.MaxWriteBytes>>20).
			WithHint("read and write less in one run")
	}
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return withCall(err, op, name)
	}
	if ctx.Err() != nil {
		v.closed = ctx.Err()
		return v.closed
	}
	return withCall(v.s.records.Unavailable("memory call", err), op, name) // or a backend deadline
}

// withCall returns a copy of a fault. The copy contains the operation and the store of the call.
func withCall(err error, op, store string) error {
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		return err
	}
	g := *f
	g.Op, g.Store = op, kind.Shorten(store)
	return &g
}
