// Package kind defines the interface between package memory and a kind of store, such as documents.
// The interface covers the operations of the kind, its compiled stores, and the partition of a
// store that one call can access.
//
// Each kind is a package. A kind does not know the caller of a call. Package memory checks the
// grant, creates the keys, enforces the quota, and adds owner tags and the expiry to every record.
// Therefore, scopes, retention, erasure, exports, the ledger and dry runs apply to each kind.
package kind

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Kind is a kind of store. Kind is safe for concurrent use.
type Kind interface {
	// Name returns the name of the kind in declarations.
	Name() declare.Kind
	// Operations returns the operations on stores of the kind. The first parameter is the name of
	// the store, except in operations of a Space or a Union. Several kinds can share an operation
	// if the operation has the same verb and the same parameters after the store in all of these
	// kinds. If kinds share an operation, the store of a call determines the kind.
	Operations() abi.Table
	// Compile checks a declaration against the rules of the kind and returns its Store. The text of
	// an error must complete a sentence that begins with the name of the store. Before the call of
	// Compile, package memory checks the name, the access and the retention.
	Compile(st declare.Store, limits Limits) (Store, error)
}

// Space is a Kind with operations that do not have a store parameter, because an app has only one
// store for these operations. If another kind has the same operation with a store parameter, the
// first parameter of the operation without a store must be a required text. The required text
// distinguishes calls with a store from calls without a store.
type Space interface {
	Kind
	// Space returns the name of the store.
	Space() string
}

// Union is a Kind with operations that do not have a store parameter and act on all stores of the
// kind. If another kind shares one of these operations, the operation must meet the condition that
// Space describes.
type Union interface {
	Kind
	// CallAll performs an operation without a store parameter on the stores that the caller can
	// use. The stores are in the order of their declaration. The rules of Store.Call apply. If the
	// caller has no grant on a store of the kind, the argument "members" is empty.
	CallAll(ctx context.Context, members []Member, call abi.Call) (json.RawMessage, error)
}

// Member is a store, together with the records that a call of an operation of a Union can access.
type Member struct {
	Name      string
	Store     Store
	Partition Partition
}

// Scoped is a Store in which the item of a record determines the scope of the record. The Partition
// of a Scoped store contains the records of all scopes that the caller has, and rejects an item
// that the grants of the caller do not cover. The declaration of a Scoped store has the access
// declare.ScopeByItem.
type Scoped interface {
	Store
	// Scope returns the scope of the record of an item.
	Scope(item string) declare.Scope
}

// Dated is a Store whose revisions are times. The revision of a record is the time of its last
// write in milliseconds since 1970. Revisions of a key must increase. If the time of the write is
// not later than the previous revision of the key, the new revision is the previous revision plus
// 1. The previous revision can belong to a deleted record.
type Dated interface {
	Store
	Dated()
}

// Store is a compiled declaration. Store is safe for concurrent use.
type Store interface {
	// Call performs an operation of the kind on the records of a partition and returns the reply as
	// JSON. If Call returns an *abi.Fault, the tool code receives the fault and can continue. If
	// the Partition returns an error that is not an *abi.Fault, Call must return the error
	// unchanged.
	//
	// The arguments are in the order of the parameters that the kind declares. The engine owns the
	// memory of the arguments, so Call must copy the data that it retains.
	Call(ctx context.Context, p Partition, call abi.Call) (json.RawMessage, error)
	// Fits reports whether the content of a record matches the declaration.
	Fits(r storage.Record) bool
	// Show returns the content of a record as JSON, for dry runs and exports.
	Show(content []byte) json.RawMessage
	// Public returns the JSON Pointer of a violation without names that occur only in the content.
	Public(pointer string) string
	// Mistakes returns the parts of the declaration that resemble constraints but have no effect.
	Mistakes() schema.Errors
}
