package python

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestPrepared tests the method Prepared. One engine has a compiled interpreter, and another engine
// has none.
func TestPrepared(t *testing.T) {
	code := []byte("an interpreter")
	runtime := WithRuntime(func() ([]byte, error) { return code, nil })
	kept := t.TempDir()
	if err := os.Mkdir(filepath.Join(kept, entryName(code)), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		engine *Engine
		want   bool
	}{
		"in the cache":      {New(runtime, WithCache(kept)), true},
		"another cache":     {New(runtime, WithCache(t.TempDir())), false},
		"no cache":          {New(runtime), false},
		"compiled before":   {New(WithCompiled(t.TempDir())), true},
		"nothing to make":   {New(), true},
		"it cannot be read": {New(WithRuntime(func() ([]byte, error) { return nil, errors.New("no") })), true},
	} {
		if got := test.engine.Prepared(); got != test.want {
			t.Errorf("Prepared with %s = %t; want %t", name, got, test.want)
		}
	}
}
