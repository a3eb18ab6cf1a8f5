package schema_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/schema"
)

func TestCache(t *testing.T) {
	var c schema.Cache
	get := func(text string, opts schema.Options) *schema.Schema {
		s, err := c.Compile([]byte(text), opts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := get(prefsSchema, schema.Options{})
	if get(prefsSchema, schema.Options{}) != first {
		t.Error("Compile of the same text = another schema; want the cached one")
	}
	if get(prefsSchema, schema.Options{Strict: true}) == first {
		t.Error("Compile with other options = the same schema; want another one")
	}
	for i := range 300 {
		get(fmt.Sprintf(`{"const": %d}`, i), schema.Options{})
	}
	if get(prefsSchema, schema.Options{}) == first {
		t.Error("Compile after 300 other schemas = the first schema; want it to be evicted")
	}
	last := get(`{"const": 299}`, schema.Options{})
	if get(`{"const": 299}`, schema.Options{}) != last {
		t.Error("Compile of a recently used text = another schema; want the cached one")
	}
}

func TestCacheRemembersMistakes(t *testing.T) {
	var c schema.Cache
	_, first := c.Compile([]byte(`{"type": 1}`), schema.Options{})
	_, second := c.Compile([]byte(`{"type": 1}`), schema.Options{})
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("Compile = %v, and then %v", first, second)
	}
}

func TestConcurrentUse(t *testing.T) {
	var c schema.Cache
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			text := []byte(prefsSchema)
			s, err := c.Compile(text, schema.Options{Strict: i%2 == 0})
			if err != nil {
				t.Error(err)
				return
			}
			clear(text) // the caller is allowed to modify its slice after the call
			doc := decode(t, `{"preferences": {"language": 1}, "extra": 1}`)
			for range 50 {
				if got := len(s.Validate(doc)); got != 1+(i+1)%2 {
					t.Errorf("%d violations", got)
				}
				s.Defaults(map[string]any{})
			}
		})
	}
	wg.Wait()
}
