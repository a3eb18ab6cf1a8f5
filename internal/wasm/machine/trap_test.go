package machine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// TestTrapOf reads traps of guests.
func TestTrapOf(t *testing.T) {
	m := wasmtest.Module{Pages: 1}
	m.Func("unreachable", 0, wasmtest.Unreachable)
	m.Func("recurse", 0, wasmtest.Call(1)...)
	compiled, err := machine.Compile(t.Context(), rewritten(t, m.Bytes()), noImports)
	in := restored(t, closing(t, compiled, err))
	for _, c := range []struct {
		name, want string
		overflow   bool
	}{
		{"unreachable", "unreachable", false},
		{"recurse", "stack overflow", true},
	} {
		_, err := in.Guest().ExportedFunction(c.name).Call(machine.With(t.Context(), &counting{limit: 1 << 20}))
		if err == nil {
			t.Fatalf("%s returned", c.name)
		}
		trap := machine.TrapOf(err)
		if trap.Message != c.want || trap.IsStackOverflow() != c.overflow {
			t.Errorf("the trap of %s is %+v; want %q", c.name, trap, c.want)
		}
	}
}

// TestTrapOfNames reads the trap of a guest in which a function's name looks like a panic of the
// host.
func TestTrapOfNames(t *testing.T) {
	trap := machine.TrapOf(errors.New("module[] function[run] failed: wasm error: unreachable\nwasm stack trace:\n\t.(recovered by wazero)()"))
	if trap.Message != "unreachable" || !strings.Contains(trap.Stack, "(recovered by wazero)()") {
		t.Errorf("the trap is %+v", trap)
	}
}

// TestTrapOfPanic makes a host function panic, which is a bug of the host.
func TestTrapOfPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("TrapOf returned; want a panic")
		}
	}()
	machine.TrapOf(errors.New("index out of range (recovered by wazero)\nwasm stack trace:\n\tenv.f()"))
}
