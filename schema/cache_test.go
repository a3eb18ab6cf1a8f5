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
		t.Error("the same text is compiled twice")
	}
	if get(prefsSchema, schema.Options{Strict: true}) == first {
		t.Error("other options give the same schema")
	}
	for i := range 300 {
		get(fmt.Sprintf(`{"const": %d}`, i), schema.Options{})
	}
	if get(prefsSchema, schema.Options{}) == first {
		t.Error("300 other schemas evict none")
	}
	last := get(`{"const": 299}`, schema.Options{})
	if get(`{"const": 299}`, schema.Options{}) != last {
		t.Error("a recently used text is compiled twice")
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
			clear(text) // the caller is allowed to modify its slice
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
