package machine_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// module returns a module with two exports: a function run that never returns, and a function add
// that returns a sum.
func module() []byte {
	m := wasmtest.Module{Pages: 1}
	m.Func("run", 0, wasmtest.Loop, wasmtest.Empty, wasmtest.Br, 0, wasmtest.End)
	m.Func("add", 1, append(append(wasmtest.Const(2), wasmtest.Const(3)...), wasmtest.I32Add)...)
	return m.Bytes()
}

func noImports(context.Context, wazero.Runtime, wazero.CompiledModule) error { return nil }

func rewritten(t *testing.T, code []byte) machine.Code {
	t.Helper()
	parsed, err := binary.Parse(code, binary.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rewritten, err := machine.Rewrite(parsed, machine.RewriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return rewritten
}

// closing returns its argument, a machine, which is closed when the test ends.
func closing(t *testing.T, m *machine.Machine, err error) *machine.Machine {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// restored returns an instance of a machine's image.
func restored(t *testing.T, m *machine.Machine) *snapshot.Instance {
	t.Helper()
	image, err := m.Image(snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := image.Restore(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Discard(context.Background()); err != nil {
			t.Error(err)
		}
		if err := image.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in
}

// checkAdd calls the exported function add and checks its result.
func checkAdd(t *testing.T, guest api.Module) {
	t.Helper()
	sum, err := guest.ExportedFunction("add").Call(machine.With(t.Context(), new(counting)))
	if err != nil || sum[0] != 5 {
		t.Errorf("add = %v, %v; want 5", sum, err)
	}
}

// counting is a guest that must stop after a given number of yields.
type counting struct{ slices, limit int }

func (c *counting) Yield() bool {
	if c.slices++; c.slices > c.limit+1 {
		panic("a guest that was stopped goes on")
	}
	return c.slices <= c.limit
}

// files returns all files in a folder and its subfolders.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return names
}
