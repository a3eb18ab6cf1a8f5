// Package kind defines the interface between package memory and a kind of store, such as documents.
// The interface covers the operations of the kind, the compiled stores of the kind, and the part of
// a store that one call can access.
//
// Each kind is implemented in a separate package. A kind does not know who performs a call. Package
// memory checks the grant, creates the keys, enforces the quota, and adds owner tags and the expiry
// to every record. Therefore, scopes, retention, erasure, exports, the ledger and dry runs work for
// every kind.
package kind

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Kind is the implementation of a kind of store. Kind is safe for concurrent use.
type Kind interface {
	// Name returns the name of the kind in declarations.
	Name() declare.Kind
	// Operations returns the operations that stores of the kind support. The first parameter of an
	// operation is the name of the store. Only operations of a Space or a Union can omit this
	// parameter. Several kinds can share an operation. Then the operation must have the same verb
	// in all of these kinds, and the same parameters after the store. If a call uses a shared
	// operation, the store in the call determines the kind.
	Operations() abi.Table
	// Compile checks a declaration against the rules of the kind. Compile returns a Store for the
	// declaration. Package memory puts the name of the store before the text of the error, so the
	// text must be the rest of a sentence that begins with the name. Before package memory calls
	// Compile, it checks the name, the access and the retention.
	Compile(st declare.Store, limits Limits) (Store, error)
}

// Space is a Kind whose operations can omit the store parameter. The store parameter is not
// necessary, because an app has only one store for these operations. If another kind has the same
// operation with a store parameter, the first parameter of the operation in the Space must be a
// required text. The number of texts at the start of a call then shows whether the call contains a
// store.
type Space interface {
	Kind
	// Space returns the name of the store.
	Space() string
}

// Union is a Kind whose operations can omit the store parameter. An operation without this
// parameter acts on all stores of the kind. If another kind shares such an operation, the condition
// in the comment on Space applies.
type Union interface {
	Kind
	// CallAll performs an operation without a store parameter. The operation acts on all stores
	// that the caller can use. The argument "members" contains the stores in the order of their
	// declaration. The rules of Store.Call also apply to CallAll. If the caller has no grant on a
	// store of the kind, the argument "members" is empty.
	CallAll(ctx context.Context, members []Member, call abi.Call) (json.RawMessage, error)
}

// Member contains a store, and the records of the store that a call of a Union's operation can
// access.
type Member struct {
	Name      string
	Store     Store
	Partition Partition
}

// Scoped is a Store with records of several scopes. The item of a record determines its scope. The
// Partition of a Scoped store contains the records of all scopes of the caller. The Partition
// rejects an item if no grant of the caller covers it. The declaration of a Scoped store has the
// access declare.ScopeByItem.
type Scoped interface {
	Store
	// Scope returns the scope of the record with a given item.
	Scope(item string) declare.Scope
}

// Dated is a Store whose revisions are times. The revision of a record is the time of its last
// write in milliseconds since 1970. The revisions of a key must increase. If the time of a write is
// not later than the previous revision of the key, the new revision is one millisecond later than
// the previous revision. The previous revision can belong to a deleted record.
type Dated interface {
	Store
	Dated()
}

// A Store is a compiled declaration. Store is safe for concurrent use.
type Store interface {
	// Call performs an operation of the kind. The operation uses the records of a partition. The
	// result is the reply as JSON. If Call returns an *abi.Fault, the tool code receives the fault
	// and can continue. If a method of the Partition returns an error that is not an *abi.Fault,
	// Call must return this error unchanged.
	//
	// The arguments are in the order of the parameters that the kind declares. The engine owns the
	// memory of the arguments. Therefore Call must copy all data that it keeps.
	Call(ctx context.Context, p Partition, call abi.Call) (json.RawMessage, error)
	// Fits reports whether the declaration allows the content of a record.
	Fits(r storage.Record) bool
	// Show returns the content of a record as JSON. Dry runs and exports use Show.
	Show(content []byte) json.RawMessage
	// Public returns the JSON Pointer of a violation. Public omits names that occur only in the
	// content and not in the declaration.
	Public(pointer string) string
	// Mistakes returns the parts of the declaration that resemble constraints but have no effect.
	Mistakes() schema.Errors
}
