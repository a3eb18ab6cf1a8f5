package machine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// TestYield stops a guest that never returns, after the host of the guest requests the stop.
func TestYield(t *testing.T) {
	compiled, err := machine.Compile(t.Context(), rewritten(t, module()), noImports)
	in := restored(t, closing(t, compiled, err))
	for _, limit := range []int{0, 1, 5} {
		g := &counting{limit: limit}
		_, err := in.Guest().ExportedFunction("run").Call(machine.With(t.Context(), g))
		if !errors.Is(err, machine.ErrStopped) || g.slices != limit+1 {
			t.Errorf("run = %v after %d slices; want ErrStopped after %d", err, g.slices, limit+1)
		}
	}
	checkAdd(t, in.Guest())
}

// TestNotRestorable runs a module whose state an image cannot contain.
func TestNotRestorable(t *testing.T) {
	m := wasmtest.Module{Pages: 1}
	m.Func("toolrun:start", 0) // package snapshot reserves this name
	m.Func("add", 1, wasmtest.Const(5)...)
	parsed, err := binary.Parse(m.Bytes(), binary.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	code, err := machine.Rewrite(parsed, machine.RewriteOptions{})
	if err != nil || code.Restorable != nil || code.NotRestorable == nil {
		t.Fatalf("Rewrite = %v, %v, %v; want code with a nil Restorable and with NotRestorable", code.Restorable, code.NotRestorable, err)
	}
	if _, err := machine.Save(t.Context(), t.TempDir(), code, noImports); err == nil {
		t.Error("Save of code that is not restorable = nil; want an error")
	}
	compiled, err := machine.Compile(t.Context(), code, noImports)
	if closing(t, compiled, err).IsRestorable() {
		t.Error("IsRestorable = true; want false")
	}
	guest, err := compiled.Instantiate(t.Context(), wazero.NewModuleConfig())
	if err != nil {
		t.Fatal(err)
	}
	checkAdd(t, guest)
}

// TestModuleError distinguishes a module that cannot be compiled from imports that cannot be
// instantiated.
func TestModuleError(t *testing.T) {
	code := rewritten(t, module())
	errImports := errors.New("no imports")
	_, err := machine.Compile(t.Context(), code, func(context.Context, wazero.Runtime, wazero.CompiledModule) error { return errImports })
	if _, ok := errors.AsType[*machine.ModuleError](err); ok || !errors.Is(err, errImports) {
		t.Errorf("Compile without imports = %v; want %v, which is not a ModuleError", err, errImports)
	}
	var wrong wasmtest.Module
	wrong.Func("add", 1, wasmtest.Drop) // with an empty stack
	_, err = machine.Compile(t.Context(), machine.Code{Binary: wrong.Bytes()}, noImports)
	if _, ok := errors.AsType[*machine.ModuleError](err); !ok {
		t.Errorf("Compile of an invalid module = %v; want a ModuleError", err)
	}
}
