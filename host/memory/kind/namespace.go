package kind

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/host/storage"
)

// Embedder computes vectors from texts with named embedders. A collection declares the name of its
// embedder. An Embedder belongs to one attempt of a run, and is used by one goroutine at a time.
type Embedder interface {
	// Space returns the id and the dimension of the embedder with a name. Vectors of embedders with
	// different ids or dimensions cannot be compared. If the name is unknown, Space returns the
	// fault unavailable.
	Space(name string) (id string, dim int, err error)
	// Embed returns a vector of length 1 for each text. The argument "query" is true for the query of
	// a search, and false for texts that are stored.
	Embed(ctx context.Context, name string, texts []string, query bool) ([][]float32, error)
}

// VectorSpace identifies the vectors of one embedder, which can be compared with each other. The
// zero VectorSpace contains no vectors.
type VectorSpace struct {
	// Embedder is the id of the embedder, and Dim is the dimension of its vectors.
	Embedder string
	Dim      int
}

// SpaceID is a short name of a VectorSpace. Stored entries contain a SpaceID.
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

// Namespace is the Partition of the records in one namespace of a store. A search outside of the
// transaction can find records of the namespace. After the search, Peek verifies the found records.
type Namespace interface {
	Partition
	// Prefix returns the prefix of the keys of the records.
	Prefix() storage.Key
	// Written returns the records that the run has written or removed but has not committed, in the
	// order of their first use.
	Written() []Written
	// Peek returns the records with the given keys that are visible to the run, all from one
	// snapshot. Peek does not add the records to the read set.
	Peek(ctx context.Context, keys ...storage.Key) ([]storage.Record, error)
	// Stored returns committed records that follow an item, in the order of their keys. The
	// argument "limit" is the maximum number of records. Stored does not add the records to the
	// read set, ignores the writes of the run, and can return expired records.
	Stored(ctx context.Context, after string, limit int) ([]storage.Record, error)
	// NewItem returns a random item for a new record. Every attempt of the run gets the same random
	// items.
	NewItem() (string, error)
	// Pin returns the VectorSpace of the embedder with the given name for the store. Pin returns a
	// fault if the vectors in the store are from another embedder, unless the entries are being
	// moved to or from the space of the named embedder. If the store has no vectors and the
	// argument "write" is false, Pin returns the zero VectorSpace. If the store has no vectors and
	// "write" is true, Pin records the embedder as the embedder of the store.
	Pin(ctx context.Context, embedder string, write bool) (VectorSpace, error)
	// Mock returns the reply to a call of recall that replaces the search. If the run must perform
	// the search, the reply is nil. A call of Mock counts as a call of recall.
	Mock() (json.RawMessage, error)
	// Embed computes vectors like Embedder.Embed.
	Embed(ctx context.Context, embedder string, texts []string, query bool) ([][]float32, error)
}

// Written is a record that a run has written or removed.
type Written struct {
	Key storage.Key
	// Record is the zero Record if the run has removed the record.
	Record storage.Record
	// Stored is the committed record if the run has read the record before the write. Otherwise,
	// Stored is the zero Record.
	Stored storage.Record
}

// Completer is a Store that completes the records of a run before they are committed.
type Completer interface {
	Store
	// Complete is called after the body of the transaction, with each namespace that the run has
	// used. If Complete fails, nothing is stored.
	Complete(ctx context.Context, namespaces []Namespace) error
}
