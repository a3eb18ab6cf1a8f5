package artefact_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/artefact"
)

func TestMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := artefact.Make(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := artefact.Make(dir); !errors.Is(err, artefact.ErrUnsafe) {
		t.Errorf("Make of a folder that all may write to = %v; want ErrUnsafe", err)
	}
	if err := artefact.Make(""); err == nil {
		t.Error("Make of no folder = nil")
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
	if artefact.Whole(dir) {
		t.Error("a folder that was not sealed is whole")
	}
	if err := artefact.Seal(dir); err != nil || !artefact.Whole(dir) {
		t.Errorf("Seal = %v, and the folder is not whole", err)
	}
	write("compileD")
	if artefact.Whole(dir) {
		t.Error("a folder with a changed file is whole")
	}
	write("compiled")
	if err := os.WriteFile(filepath.Join(dir, "more"), nil, 0o600); err != nil || artefact.Whole(dir) {
		t.Errorf("a folder with one file more is whole, %v", err)
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "compiled")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(artefact.Make(dir), artefact.Whole(dir), artefact.Seal(dir), artefact.Whole(dir))
	// Output: <nil> false <nil> true
}
