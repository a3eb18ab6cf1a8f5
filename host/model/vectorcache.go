package model

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"
)

// These constants are the limits of a VectorCache.
const (
	// DefaultCacheBytes is the default limit for the total size of all vectors.
	DefaultCacheBytes = 64 << 20
	// CacheAge is the time after which a vector is removed from the cache.
	CacheAge = time.Hour
	// vectorOverhead is the number of bytes that is added to the size of each vector.
	vectorOverhead = 256
)

// A VectorKey identifies a vector. The VectorKey contains the vector space, the purpose and the
// text.
type VectorKey [sha256.Size]byte

// NewVectorKey returns the key for the vector of a text. The argument "id" is the ID of the
// embedder.
func NewVectorKey(id string, purpose Purpose, text string) VectorKey {
	h := sha256.New()
	for _, part := range []string{id, string(purpose), text} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return VectorKey(h.Sum(nil))
}

// A VectorCache keeps recent vectors in RAM. Therefore the same text is not embedded and paid for
// twice. Consumers do not share vectors. If consumers shared vectors, a user could find out which
// texts other users have stored. If the cache is full, it removes the oldest vectors of the tenant
// whose vectors have the largest total size. VectorCache is safe for concurrent use.
type VectorCache struct {
	limit int

	mu      sync.Mutex
	bytes   int
	tenants map[string]*tenantVectors
	byKey   map[cacheKey]*list.Element
	// erasures is the number of calls of Erase.
	erasures     uint64
	hits, misses int64
}

type cacheKey struct {
	Consumer
	VectorKey
}

// tenantVectors contains the vectors of one tenant. The most recently used vector is the first.
type tenantVectors struct {
	bytes  int
	recent list.List // of *cachedVector
}

type cachedVector struct {
	key    cacheKey
	vector []float32
	made   time.Time
}

func (v *cachedVector) size() int {
	return 4*len(v.vector) + len(v.key.Tenant) + len(v.key.App) + len(v.key.User) + vectorOverhead
}

// NewVectorCache returns an empty cache. The argument "limit" is the maximum size of the cache in
// bytes. Default: DefaultCacheBytes.
func NewVectorCache(limit int) *VectorCache {
	if limit <= 0 {
		limit = DefaultCacheBytes
	}
	return &VectorCache{limit: limit, tenants: map[string]*tenantVectors{}, byKey: map[cacheKey]*list.Element{}}
}

// Get returns a vector. If the cache does not contain the vector, Get returns nil. The caller must
// not modify the returned vector.
func (c *VectorCache) Get(owner Consumer, key VectorKey, now time.Time) []float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[cacheKey{owner, key}]
	if e == nil {
		return nil
	}
	found := e.Value.(*cachedVector)
	if age := now.Sub(found.made); age < 0 || age >= CacheAge {
		c.remove(e)
		return nil
	}
	c.tenants[owner.Tenant].recent.MoveToFront(e)
	return found.vector
}

// Erasures returns the number of calls of Erase so far; see Put.
func (c *VectorCache) Erasures() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.erasures
}

// Put adds vectors. The argument "erasures" is a result of Erasures. If Erase was called after this
// call of Erasures, Put adds nothing, because the vectors can belong to erased data.
func (c *VectorCache) Put(owner Consumer, erasures uint64, vectors map[VectorKey][]float32, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if erasures != c.erasures {
		return
	}
	for key, vector := range vectors {
		made := &cachedVector{key: cacheKey{owner, key}, vector: vector, made: now}
		if old := c.byKey[made.key]; old != nil {
			c.remove(old)
		}
		if made.size() <= c.limit {
			c.add(made)
		}
	}
	for c.bytes > c.limit {
		c.remove(c.largest().recent.Back())
	}
}

// Erase removes the vectors of a user. If the consumer has no user, Erase removes the vectors of
// the app that do not belong to a user.
func (c *VectorCache) Erase(owner Consumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erasures++
	tenant := c.tenants[owner.Tenant]
	if tenant == nil {
		return
	}
	for e := tenant.recent.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*cachedVector).key.Consumer == owner {
			c.remove(e)
		}
		e = next
	}
}

// Count counts the vectors that runs needed. Count distinguishes known vectors from vectors that a
// model had to compute.
func (c *VectorCache) Count(hits, misses int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits += int64(hits)
	c.misses += int64(misses)
}

// Counts returns the sums of the arguments of all calls of Count.
func (c *VectorCache) Counts() (hits, misses int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses
}

// Bytes returns the total size of the vectors in the cache.
func (c *VectorCache) Bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// add adds a vector. The caller must hold the lock of the cache.
func (c *VectorCache) add(v *cachedVector) {
	tenant := c.tenants[v.key.Tenant]
	if tenant == nil {
		tenant = &tenantVectors{}
		c.tenants[v.key.Tenant] = tenant
	}
	c.byKey[v.key] = tenant.recent.PushFront(v)
	tenant.bytes += v.size()
	c.bytes += v.size()
}

// remove removes a vector. The caller must hold the lock of the cache.
func (c *VectorCache) remove(e *list.Element) {
	v := e.Value.(*cachedVector)
	tenant := c.tenants[v.key.Tenant]
	tenant.recent.Remove(e)
	delete(c.byKey, v.key)
	tenant.bytes -= v.size()
	c.bytes -= v.size()
	if tenant.recent.Len() == 0 {
		delete(c.tenants, v.key.Tenant)
	}
}

// largest returns the tenant whose vectors have the largest total size. The caller must hold the
// lock of the cache.
func (c *VectorCache) largest() (largest *tenantVectors) {
	for _, tenant := range c.tenants {
		if largest == nil || tenant.bytes > largest.bytes {
			largest = tenant
		}
	}
	return largest
}
