package index

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolrun/toolrun/host/search"
	"github.com/toolrun/toolrun/host/storage"
)

// DefaultBytes is the default of Options.Bytes.
const DefaultBytes = 512 << 20

// minEntries is the default of Set.minEntries.
const minEntries = 256

// Options are the options of a Set. The zero value is valid.
type Options struct {
	// Bytes is the approximate maximum size of all indexes in memory. An entry with a vector of 512
	// elements uses about 3 KB. If the index of a partition does not fit in memory, each search
	// reads the records of the partition. Default: DefaultBytes.
	Bytes int64
	// Group returns the group to which a partition belongs. Each group has an equal share of the
	// memory. A group can use more memory only as long as the other groups do not need this memory.
	// Default: the tenant of the key.
	Group func(prefix storage.Key) string
}

// Set searches the partitions of a backend, and keeps their indexes in memory. Set is safe for
// concurrent use.
type Set struct {
	backend storage.Backend
	group   func(storage.Key) string
	// minEntries is the minimum number of entries of a partition with an index. For a smaller
	// partition, each search reads the records.
	minEntries int
	counters   counters

	mu         sync.Mutex // guards the following fields
	closed     bool
	partitions map[storage.Key][]*partition // by prefix; a prefix has one partition for each language, Space and Decoding
	memory     memory
	clock      uint64 // the number of uses of partitions
}

// New returns a Set for the entries in a backend.
func New(backend storage.Backend, o Options) *Set {
	if o.Bytes == 0 {
		o.Bytes = DefaultBytes
	}
	if o.Group == nil {
		o.Group = storage.Key.Tenant
	}
	return &Set{
		backend: backend, group: o.Group, minEntries: minEntries, partitions: map[storage.Key][]*partition{},
		memory: memory{limit: o.Bytes, groups: map[string]int64{}, unfit: map[storage.Key]unfit{}},
	}
}

// Search returns the entries under a prefix that are most similar to a query, with the best entry
// first. The prefix must consist of whole parts of a key. Search takes into account all changes
// that the backend has already reported when Search is called. Refresh adds changes that the
// backend has not reported yet.
//
// The hits are proposals. The caller must compare the revisions of the hits with the records in the
// backend, and omit outdated hits. If too few hits remain, the caller can search again with a
// higher limit.
//
// If the query exceeds its limits, Search returns a fault with the code abi.InvalidArgument. All
// other errors are errors of ctx, of the backend or of the function decode.
func (s *Set) Search(ctx context.Context, prefix storage.Key, decode Decode, q Query) ([]Hit, error) {
	language, words, err := q.check()
	if err != nil {
		return nil, err
	}
	defer s.counters.searched(time.Now())
	r, key := newRanking(&q, words), partitionKey{prefix, language.Name(), q.Space, q.Decoding}
	p := s.acquire(key, false)
	if p == nil {
		var hits []Hit
		if hits, p, err = s.scan(ctx, key, decode, r, true); p == nil {
			return hits, err
		}
		r = newRanking(&q, words)
	}
	defer s.release(p)
	if err = s.searchIndex(ctx, p, language, decode, r); errors.Is(err, errNoIndex) {
		hits, _, err := s.scan(ctx, key, decode, newRanking(&q, words), false)
		return hits, err
	}
	if err != nil {
		return nil, err
	}
	return r.hits(), nil
}

// searchIndex searches the index of a partition.
func (s *Set) searchIndex(ctx context.Context, p *partition, language *search.Language, decode Decode, r *ranking) error {
	if err := p.update(ctx, &reader{partition: p, dimension: len(r.query.Vector), language: language, decode: decode}); err != nil {
		return err
	}
	p.mu.Lock()
	if p.table.differs(len(r.query.Vector)) { // another search has built the table for another dimension
		p.mu.Unlock()
		return errNoIndex
	}
	snapshot := p.table.snapshot(r.query, r.terms)
	p.mu.Unlock()
	alive := snapshot.count(r)
	r.addOwn()
	return snapshot.compare(ctx, r, alive)
}

// acquire returns the partition for a key. If the partition does not exist, the result is a new
// partition if the argument "create" is true and the memory suffices; otherwise, the result is nil.
func (s *Set) acquire(key partitionKey, create bool) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(key)
	if p == nil {
		group := s.group(key.prefix)
		if !create || s.closed || !s.memory.fits(key.prefix, group) {
			return nil
		}
		p = &partition{set: s, key: key, group: group, turn: make(chan struct{}, 1)}
		s.partitions[key.prefix] = append(s.partitions[key.prefix], p)
	}
	s.clock++
	p.used, p.users = s.clock, p.users+1
	return p
}

// find returns the partition for a key, or nil. The caller must hold the mutex.
func (s *Set) find(key partitionKey) *partition {
	for _, p := range s.partitions[key.prefix] {
		if p.key == key {
			return p
		}
	}
	return nil
}

// release ends the use of a partition.
func (s *Set) release(p *partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.users--
	if p.users == 0 && p.bytes == 0 { // the first read has failed
		s.evict(p)
	}
}

// maxCommitted is the maximum number of keys that Refresh keeps for a partition.
const maxCommitted = 4096

// Refresh makes the next search of a partition read the records with the given keys again. The
// backend can report changes late. If a caller has committed changes that its next search must
// find, the caller must first call Refresh. Refresh is cheap and does not read from the backend.
func (s *Set) Refresh(keys ...storage.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.partitions) == 0 {
		return
	}
	for _, k := range keys {
		parts, err := k.Parts()
		if err != nil {
			continue
		}
		prefix := storage.Key("")
		for _, part := range parts {
			for _, p := range slices.Clone(s.partitions[prefix]) {
				if p.committed = append(p.committed, k); len(p.committed) > maxCommitted {
					s.evict(p)
				}
			}
			prefix = prefix.With(part)
		}
	}
}

// Evict removes indexes from memory. The function "of" returns true for the prefixes of the
// partitions whose indexes are removed. Later searches read the entries again. An index can contain
// words of entries that no longer exist, so the erasure of a user must call Evict. The function
// "of" must not call methods of the Set.
func (s *Set) Evict(of func(prefix storage.Key) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for prefix, partitions := range s.partitions {
		if of(prefix) {
			for _, p := range slices.Clone(partitions) {
				s.evict(p)
			}
		}
	}
}

// Close releases the memory of the Set. Searches after a call of Close read all entries from the
// backend. Close can be called more than once.
func (s *Set) Close() {
	s.Evict(func(storage.Key) bool { return true })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Bytes returns the approximate size of all indexes in memory.
func (s *Set) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.total
}
