package schema

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// cachedSchemas is the maximum number of schemas in a Cache.
const cachedSchemas = 256

// Cache compiles schemas and caches the results, including errors. Cache keeps the 256 most
// recently used schemas. The zero value is ready to use. A Cache is safe for concurrent use, and
// concurrent callers with the same text share one compilation.
type Cache struct {
	mu      sync.Mutex
	entries map[cacheKey]*list.Element
	recent  list.List // the elements are of type *cached, and the most recently used one is first
}

type cacheKey struct {
	text [sha256.Size]byte
	opts Options
}

type cached struct {
	key     cacheKey
	compile func() (*Schema, error)
}

// Compile is like the function Compile, but caches the result.
func (c *Cache) Compile(text []byte, opts Options) (*Schema, error) {
	return c.entry(text, opts).compile()
}

func (c *Cache) entry(text []byte, opts Options) *cached {
	key := cacheKey{text: sha256.Sum256(text), opts: opts}
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.entries[key]; ok {
		c.recent.MoveToFront(element)
		return element.Value.(*cached)
	}
	if c.entries == nil {
		c.entries = make(map[cacheKey]*list.Element)
	}
	entry := &cached{key: key, compile: sync.OnceValues(func() (*Schema, error) { return Compile(text, opts) })}
	c.entries[key] = c.recent.PushFront(entry)
	if c.recent.Len() > cachedSchemas {
		oldest := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.entries, oldest.key)
	}
	return entry
}
