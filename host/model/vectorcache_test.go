package model_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/model"
)

var cacheTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func vectors(keys ...string) map[model.VectorKey][]float32 {
	made := map[model.VectorKey][]float32{}
	for _, key := range keys {
		made[model.NewVectorKey("e", model.Document, key)] = make([]float32, 100)
	}
	return made
}

func cached(c *model.VectorCache, owner model.Consumer, key string, at time.Time) bool {
	return c.Get(owner, model.NewVectorKey("e", model.Document, key), at) != nil
}

func TestVectorCacheOwners(t *testing.T) {
	c := model.NewVectorCache(0)
	ann := model.Consumer{Tenant: "t", App: "a", User: "ann"}
	c.Put(ann, c.Erasures(), vectors("x"), cacheTime)
	if !cached(c, ann, "x", cacheTime) {
		t.Error("Get returned no vector; want the vector of ann")
	}
	for _, other := range []model.Consumer{{Tenant: "t", App: "a", User: "bob"}, {Tenant: "t", App: "a"}, {Tenant: "t", App: "b", User: "ann"}, {Tenant: "u", App: "a", User: "ann"}} {
		if cached(c, other, "x", cacheTime) {
			t.Errorf("Get for %+v returned a vector of ann; want none", other)
		}
	}
	for name, key := range map[string]model.VectorKey{
		"embedder": model.NewVectorKey("f", model.Document, "x"), "purpose": model.NewVectorKey("e", model.Query, "x"), "text": model.NewVectorKey("e", model.Document, "y"),
	} {
		if c.Get(ann, key, cacheTime) != nil {
			t.Errorf("Get with another %s returned a vector; want none", name)
		}
	}
	if cached(c, ann, "x", cacheTime.Add(model.CacheAge)) || c.Bytes() != 0 {
		t.Errorf("Get returned an old vector, or the cache has %d bytes; want none", c.Bytes())
	}
}

func TestVectorCacheErase(t *testing.T) {
	c := model.NewVectorCache(0)
	ann, bob := model.Consumer{Tenant: "t", App: "a", User: "ann"}, model.Consumer{Tenant: "t", App: "a", User: "bob"}
	before := c.Erasures()
	c.Put(ann, before, vectors("x", "y"), cacheTime)
	c.Put(bob, before, vectors("x"), cacheTime)
	c.Erase(ann)
	if cached(c, ann, "x", cacheTime) || cached(c, ann, "y", cacheTime) || !cached(c, bob, "x", cacheTime) {
		t.Error("the vectors of ann are cached, or those of bob are not; want only those of bob")
	}
	c.Put(ann, before, vectors("x"), cacheTime)
	if cached(c, ann, "x", cacheTime) {
		t.Error("a request that began before the erasure added a vector; want none")
	}
	c.Erase(model.Consumer{Tenant: "none"})
}

// Even if a tenant has many vectors, they must not displace the vectors of another tenant.
func TestVectorCacheFairness(t *testing.T) {
	const limit = 20_000
	c := model.NewVectorCache(limit)
	small, large := model.Consumer{Tenant: "small"}, model.Consumer{Tenant: "large"}
	c.Put(small, 0, vectors("x", "y"), cacheTime)
	for i := range 1000 {
		c.Put(large, 0, vectors(fmt.Sprint(i)), cacheTime)
		cached(c, large, "0", cacheTime) // this access keeps the vector in the cache
	}
	if !cached(c, small, "x", cacheTime) || !cached(c, small, "y", cacheTime) {
		t.Error("the vectors of the small tenant are not cached; want them to be kept")
	}
	if !cached(c, large, "999", cacheTime) || !cached(c, large, "0", cacheTime) || cached(c, large, "1", cacheTime) {
		t.Error("the cache does not contain the most recently used vectors")
	}
	if c.Bytes() > limit || c.Bytes() < limit/2 {
		t.Errorf("the cache has %d bytes; want at most %d, and most of it used", c.Bytes(), limit)
	}
	tiny := model.NewVectorCache(10)
	if tiny.Put(small, 0, vectors("x"), cacheTime); tiny.Bytes() != 0 {
		t.Errorf("the cache has %d bytes; want no vector that exceeds the limit", tiny.Bytes())
	}
}
