// Package kind is the contract between package memory and a kind of store, such as documents: the
// operations of the kind, its compiled stores, and the part of a store that one call can use.
//
// A kind is one package. It does not know the caller of a call. Package memory checks the grant,
// makes the keys, and adds owner tags, the expiry and the quota to every record. Scopes, retention,
// erasure, exports, the ledger and dry runs therefore apply to each kind.
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
	// Name returns the name of the kind in declarations.
	Name() declare.Kind
	// Operations returns the operations on stores of the kind. The first parameter is the name of
	// the store, except in operations of a Space. Kinds can share an operation if its verb and the
	// parameters after the store are the same; the store of a call then determines the kind.
	Operations() abi.Table
	// Compile checks the rules of the kind for a declaration, and returns its Store. Its error
	// completes a sentence that begins with the name of the store. Name, access and retention have
	// been checked.
	Compile(st declare.Store, limits Limits) (Store, error)
}

// Space is a Kind with operations that do not take the name of a store: an app has one store for
// them. If another kind has the operation with a store, its first parameter here is a required
// text, by which the two forms of a call can be distinguished.
type Space interface {
	Kind
	// Space returns the name of the store.
	Space() string
}

// Store is a compiled declaration. It is safe for concurrent use.
type Store interface {
	// Call performs an operation of the kind on the records of a partition, and returns the reply
	// as JSON. An *abi.Fault is returned to the guest, which can continue. Any other error of the
	// Partition must be returned unchanged. The arguments of the call are those of the parameters
	// that the kind declares, in their order. They belong to the engine: Call copies what it keeps.
	Call(ctx context.Context, p Partition, call abi.Call) (json.RawMessage, error)
	// Fits reports whether the content of a record matches the declaration.
	Fits(r storage.Record) bool
	// Show returns the content of a record as JSON, for dry runs and exports.
	Show(content []byte) json.RawMessage
	// Public returns the JSON pointer of a violation without names that occur only in the content.
	Public(pointer string) string
	// Mistakes returns the parts of the declaration that have no effect although they seem to
	// constrain contents.
	Mistakes() schema.Errors
}
