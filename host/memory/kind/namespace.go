package kind

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/toolrun/toolrun/host/storage"
)

// An Embedder computes vectors from texts. Internally, it has several embedders, and each has a
// name. A collection declares the name of its embedder. An Embedder belongs to one attempt of a
// run, and is used by one goroutine at a time.
type Embedder interface {
	// Space returns the id and the dimension of the embedder with the given name. If two embedders
	// have different ids or dimensions, their vectors cannot be compared. If no embedder has the
	// name, Space returns the fault unavailable.
	Space(name string) (id string, dim int, err error)
	// Embed returns one vector for each text. The length of each vector is 1. The argument "query"
	// is true if the text is the query of a search. The argument "query" is false if the texts will
	// be stored.
	Embed(ctx context.Context, name string, texts []string, query bool) ([][]float32, error)
}

// A VectorSpace identifies the vectors of one embedder. All vectors in a VectorSpace can be
// compared with each other. The zero VectorSpace contains no vectors.
type VectorSpace struct {
	// Embedder is the id of the embedder, and Dim is the dimension of its vectors.
	Embedder string
	Dim      int
}

// A SpaceID is a short name of a VectorSpace. Stored entries contain a SpaceID.
type SpaceID [8]byte

// ID returns the short name of the space.
func (s VectorSpace) ID() SpaceID {
	digest := sha256.Sum256([]byte(strconv.Itoa(s.Dim) + " " + s.Embedder))
	return SpaceID(digest[:8])
}

// NamespacedPartition is the Partition of a store with namespaces. Each record of such a store
// belongs to a namespace.
type NamespacedPartition interface {
	Partition
	// Namespace returns access to the records of a namespace. The default namespace has the name
	// "". Namespace returns a fault if the caller cannot have records in the namespace. For
	// example, a caller without a user cannot have records in a namespace of a user.
	Namespace(name string) (Namespace, error)
}

// Namespace is a Partition of one namespace of a store. A search can run outside of the transaction
// and find records of the namespace. After such a search, Peek reads the found records inside of
// the transaction.
type Namespace interface {
	Partition
	// Prefix returns the key prefix that all records of the namespace share.
	Prefix() storage.Key
	// Written returns the records that the run has written or removed and not yet committed, in the
	// order of their first use.
	Written() []Written
	// Peek returns the versions of the given records that are visible to the run. All committed
	// versions are from the same snapshot. Peek does not add the records to the read set.
	Peek(ctx context.Context, keys ...storage.Key) ([]storage.Record, error)
	// Stored returns committed records in the order of their keys. The result begins after the
	// given item. The argument "limit" is the maximum number of records. Stored does not add the
	// records to the read set and ignores the writes of the run. Stored can return expired records.
	Stored(ctx context.Context, after string, limit int) ([]storage.Record, error)
	// NewItem returns a random item for a new record. All attempts of the run get the same
	// random items. If the run waits for approvals, its later executions also get the same items.
	NewItem() (string, error)
	// Pin returns the VectorSpace of the named embedder in the store. If the vectors in the store
	// are from another embedder, Pin returns a fault. There is one exception: Pin succeeds while
	// the entries are being moved to or from the space of the named embedder. If the store has no
	// vectors and "write" is false, Pin returns the zero VectorSpace. If the store has no vectors
	// and "write" is true, Pin binds the store to the named embedder.
	Pin(ctx context.Context, embedder string, write bool) (VectorSpace, error)
	// Mock returns a fixed reply to a call of "recall". The reply of Mock replaces the search. If
	// the run must perform the search, the reply is nil. Each call of Mock counts as one call of
	// "recall".
	Mock() (json.RawMessage, error)
	// Embed computes vectors in the same way as Embedder.Embed.
	Embed(ctx context.Context, embedder string, texts []string, query bool) ([][]float32, error)
}

// A Written is a record that a run has written or removed.
type Written struct {
	Key storage.Key
	// Record is the record after the write. If the run has removed the record, Record is the zero
	// Record.
	Record storage.Record
	// Stored is the committed record, if the run has read the record before the write. Otherwise,
	// Stored is the zero Record.
	Stored storage.Record
}

// A Completer is a Store that completes the records of a run before the commit.
type Completer interface {
	Store
	// Complete is called after the body of the transaction has returned. The argument "namespaces"
	// contains the namespaces of the Store that the run has used. If Complete fails, nothing is
	// stored.
	Complete(ctx context.Context, namespaces []Namespace) error
}
