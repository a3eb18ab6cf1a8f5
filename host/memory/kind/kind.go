// Package kind is the contract between memory and a kind of store, such as documents: the operations of the kind, its
// compiled stores, and the part of a store that one call may reach.
//
// A kind is one package. It never learns for whom a call acts: memory checks the grant, makes the keys, and gives every
// record its owner's tags, its expiry and its place in the quota. So scopes, retention, erasure, exports, the ledger and dry
// runs hold for a new kind as they do for the others.
package kind

import (
	"context"
	"encoding/json"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Kind is a kind of store. It is safe for concurrent use.
type Kind interface {
	// Name returns the word for the kind in declarations.
	Name() declare.Kind
	// Operations returns the operations that guests have on stores of the kind. The first parameter is the name of the
	// store, except in operations of a Space. Kinds can share an operation if its verb and the parameters after the store
	// are the same; the store of a call then decides which kind performs it.
	Operations() abi.Table
	// Compile checks what the kind demands of a declaration, and returns its Store. Its error completes a sentence that
	// begins with the name of the store. Name, access and retention have been checked.
	Compile(st declare.Store, limits Limits) (Store, error)
}

// Space is a Kind with operations that do not take the name of a store: the app has one store for them. If another kind has
// the operation with a store, the first parameter here is a required text, so that a call shows which of them is meant.
type Space interface {
	Kind
	// Space returns the name of the store.
	Space() string
}

// Store is a compiled declaration. It is safe for concurrent use.
type Store interface {
	// Call performs an operation of the kind on the records of a partition, and returns the reply as JSON. An *abi.Fault is
	// for the guest, which may go on. Any other error of the Partition must be returned. The arguments of the call are those
	// of the parameters that the kind declares, in their order. They belong to the engine: what outlives the call is copied.
	Call(ctx context.Context, p Partition, call abi.Call) (json.RawMessage, error)
	// Fits reports whether the content of a record fits the declaration.
	Fits(r storage.Record) bool
	// Show returns the content of a record as JSON, for dry runs and exports.
	Show(content []byte) json.RawMessage
	// Public returns the pointer of a violation without any name that only the content holds.
	Public(pointer string) string
	// Mistakes returns what the declaration seems to check and does not.
	Mistakes() schema.Errors
}
