package kind

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/host/storage"
)

// Embedder makes vectors from texts. A collection names one of several embedders. An Embedder
// belongs to one attempt of a run, and is used by one goroutine at a time.
type Embedder interface {
	// Space returns the id and the dimension of the embedder with a name. Vectors of embedders with
	// different ids or dimensions cannot be compared. An unknown name is the fault unavailable.
	Space(name string) (id string, dim int, err error)
	// Embed returns a vector of length 1 for each text. The argument "query" is true for the query of
	// a search, and false for texts that are stored.
	Embed(ctx context.Context, name string, texts []string, query bool) ([][]float32, error)
}

// VectorSpace identifies vectors that can be compared with each other: those of one embedder. The zero
// VectorSpace contains no vectors.
type VectorSpace struct {
	// Embedder is the id of the embedder, and Dim is the dimension of its vectors.
	Embedder string
	Dim      int
}

// SpaceID is a short name of a VectorSpace. It is part of stored entries.
type SpaceID [8]byte

// ID returns the short name of the space.
func (s VectorSpace) ID() SpaceID {
	digest := sha256.Sum256([]byte(strconv.Itoa(s.Dim) + " " + s.Embedder))
	return SpaceID(digest[:8])
}

// NamespacedPartition is the Partition of a store whose records lie in namespaces.
type NamespacedPartition interface {
	Partition
	// Namespace returns the records of a namespace. The name "" is the name of the default namespace.
	// Namespace returns a fault if the caller cannot own records in the namespace. For example, a
	// caller without a user cannot own records that belong to users.
	Namespace(name string) (Namespace, error)
}

// Namespace is the Partition of the records in one namespace of a store. Its records can be found by
// a search outside of the transaction: Peek then verifies what was found.
type Namespace interface {
	Partition
	// Prefix returns the prefix of the keys of the records.
	Prefix() storage.Key
	// Written returns the records that the run has written or removed and not committed, in the order
	// of their first use.
	Written() []Written
	// Peek returns the records under keys as the run sees them, all from one snapshot. They do not join
	// the read set.
	Peek(ctx context.Context, keys ...storage.Key) ([]storage.Record, error)
	// Stored returns committed records that follow an item, in key order, and at most as many as the
	// argument "limit". It does not add them to the read set. They can have expired, and Stored
	// ignores the writes of the run.
	Stored(ctx context.Context, after string, limit int) ([]storage.Record, error)
	// NewItem returns the item of a new record. It is random, and the same in every attempt of the run.
	NewItem() (string, error)
	// Pin returns the space of the vectors that the embedder with a name makes for the store. It returns
	// a fault if the vectors in the store are from another embedder, unless they are being moved to or
	// from the space of this one. If the store has no vectors yet, Pin returns the zero VectorSpace or, if
	// the argument "write" is true, records the embedder as that of the store.
	Pin(ctx context.Context, embedder string, write bool) (VectorSpace, error)
	// Mock returns the reply to a call of recall that replaces the search. The reply is nil if the run
	// has to search. A call of Mock counts as a call of recall.
	Mock() (json.RawMessage, error)
	// Embed makes vectors; see Embedder.
	Embed(ctx context.Context, embedder string, texts []string, query bool) ([][]float32, error)
}

// Written is a record that a run has written or removed.
type Written struct {
	Key storage.Key
	// Record is the zero Record if the run has removed the record.
	Record storage.Record
	// Stored is the committed record if the run has read it before the write. Otherwise it is the zero
	// Record.
	Stored storage.Record
}

// Completer is a Store that completes the records of a run before they are committed.
type Completer interface {
	Store
	// Complete is called after the body of the transaction, with each namespace that the run has used.
	// If it fails, nothing is stored.
	Complete(ctx context.Context, namespaces []Namespace) error
}
