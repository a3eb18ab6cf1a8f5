package codecache_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/internal/codecache"
)

func TestMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := codecache.Make(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := codecache.Make(dir); !errors.Is(err, codecache.ErrUnsafe) {
		t.Errorf("Make of a world-writable folder = %v; want ErrUnsafe", err)
	}
	if err := codecache.Make(""); err == nil {
		t.Error(`Make("") = nil; want an error`)
	}
}

func TestWhole(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "code")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("compiled")
	if codecache.Whole(dir) {
		t.Error("Whole = true for a folder without a seal")
	}
	if err := codecache.Seal(dir); err != nil || !codecache.Whole(dir) {
		t.Errorf("Seal = %v, and then Whole = false", err)
	}
	write("compileD")
	if codecache.Whole(dir) {
		t.Error("Whole = true for a folder with a changed file")
	}
	write("compiled")
	if err := os.WriteFile(filepath.Join(dir, "more"), nil, 0o600); err != nil || codecache.Whole(dir) {
		t.Errorf("Whole = true for a folder with an added file (%v)", err)
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "compiled")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(codecache.Make(dir), codecache.Whole(dir), codecache.Seal(dir), codecache.Whole(dir))
	// Output: <nil> false <nil> true
}
