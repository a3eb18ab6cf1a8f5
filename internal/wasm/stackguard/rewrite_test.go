package stackguard_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/stackguard"
)

// These are the initial stack pointer of the test modules and the number of stack bytes that each
// call uses.
const (
	top   = 65536
	frame = 16
)

// The following bytes are the code of a function of type (i32) -> (i32) with one local. The
// parameter is the number of recursive calls.
var (
	enter   = []byte{0x23, 0, 0x41, frame, 0x6b, 0x22, 1, 0x24, 0} // pointer -= frame
	leave   = []byte{0x20, 1, 0x41, frame, 0x6a, 0x24, 0}          // pointer = local + frame
	keep    = []byte{0x20, 1, 0x20, 0, 0x36, 2, 0}                 // store the parameter in the frame
	recurse = []byte{0x20, 0, 0x04, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x1a, 0x0b}
	result  = []byte{0x20, 1, 0x28, 2, 0}                               // load it
	call    = []byte{0x20, 0, 0x04, 0x40, 0x41, 0, 0x10, 0, 0x1a, 0x0b} // calls itself with 0, unless the parameter is 0
	dropped = []byte{0x23, 0, 0x41, frame, 0x6b, 0x24, 0}               // pointer -= frame, without a local
	// Other ways to move the pointer are to subtract a variable, and to add a negative constant.
	enterBy  = []byte{0x23, 0, 0x20, 0, 0x41, 4, 0x74, 0x6b, 0x22, 1, 0x24, 0} // pointer -= parameter << 4
	enterAdd = []byte{0x23, 0, 0x41, 0x70, 0x6a, 0x22, 1, 0x24, 0}             // pointer += -16
)

// module builds a module with one function, "run", and with mutable globals of type i32 whose value
// is top.
func module(globals int, code ...[]byte) []byte {
	body := slices.Concat([]byte{1, 1, 0x7f}, slices.Concat(code...), []byte{0x0b})
	global := slices.Concat([]byte{0x7f, 1, 0x41}, binary.AppendInt64(nil, top), []byte{0x0b})
	exports := append(binary.AppendName([]byte{1}, "run"), 0, 0)
	return binary.Join([]binary.Section{
		{ID: binary.TypeSection, Data: []byte{1, 0x60, 1, 0x7f, 1, 0x7f}},
		{ID: binary.FunctionSection, Data: []byte{1, 0}},
		{ID: binary.MemorySection, Data: []byte{1, 0, 1}},
		{ID: binary.GlobalSection, Data: append([]byte{byte(globals)}, slices.Repeat(global, globals)...)},
		{ID: binary.ExportSection, Data: exports},
		{ID: binary.CodeSection, Data: append(binary.AppendUint32([]byte{1}, uint32(len(body))), body...)},
	})
}

func rewrite(t *testing.T, wasm []byte) []byte {
	t.Helper()
	m, err := binary.Parse(wasm, binary.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := stackguard.Rewrite(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// exported adds exports for the globals of a module that Rewrite returned.
func exported(t *testing.T, wasm []byte) []byte {
	t.Helper()
	m, err := binary.Parse(wasm, stackguard.Limits(binary.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range m.Sections {
		if s.ID == binary.ExportSection {
			_, old, err := binary.Vector(s.Data)
			if err != nil {
				t.Fatal(err)
			}
			pointer := append(binary.AppendName(nil, "pointer"), 3, 0)
			limit := append(binary.AppendName(nil, "limit"), 3, 1)
			m.Sections[i].Data = binary.AppendVector(nil, 3, old, pointer, limit)
		}
	}
	return binary.Join(m.Sections)
}

func TestGuard(t *testing.T) {
	for _, test := range []struct {
		name  string
		code  [][]byte
		limit uint64
		n     uint64 // the argument
		trap  string // "" means no trap
		moved uint64 // the final distance of the stack pointer from the top
	}{
		{"no limit", [][]byte{enter, keep, recurse, result, leave}, 0, 4000, "", 0},
		{"no limit, out of memory", [][]byte{enter, keep, recurse, result, leave}, 0, 5000, "out of bounds memory access", 4097 * frame},
		{"as deep as the limit", [][]byte{enter, keep, recurse, result, leave}, top - 100*frame, 99, "", 0},
		{"deeper than the limit", [][]byte{enter, keep, recurse, result, leave}, top - 100*frame, 100, "unreachable", 101 * frame},
		{"far deeper than the limit", [][]byte{enter, keep, recurse, result, leave}, top - 100*frame, 4000, "unreachable", 101 * frame},
		{"without a local", [][]byte{dropped, call, {0x41, 0}}, top - frame, 0, "", frame},
		{"without a local too far", [][]byte{dropped, call, {0x41, 0}}, top - frame, 1, "unreachable", 2 * frame},
		{"a small leaf", [][]byte{enter, keep, result, leave}, top, 7, "", 0},
		{"by a variable", [][]byte{enterBy, result}, top - 64, 4, "", 64},
		{"by a variable too far", [][]byte{enterBy, result}, top - 64, 5, "unreachable", 80},
		{"by a variable below zero", [][]byte{enterBy, result}, top - 64, 4097, "out of bounds memory access", 4097 * frame},
		{"by a negative constant", [][]byte{enterAdd, keep, recurse, result, leave}, top - 100*frame, 100, "unreachable", 101 * frame},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx := context.Background()
			r := wazero.NewRuntime(ctx)
			defer r.Close(ctx)
			guest, err := r.Instantiate(ctx, exported(t, rewrite(t, module(1, test.code...))))
			if err != nil {
				t.Fatal(err)
			}
			pointer := guest.ExportedGlobal("pointer")
			guest.ExportedGlobal("limit").(api.MutableGlobal).Set(test.limit)
			_, err = guest.ExportedFunction("run").Call(ctx, test.n)
			if test.trap == "" && err != nil || test.trap != "" && (err == nil || !strings.Contains(err.Error(), test.trap)) {
				t.Errorf("run(%d) = %v; want the trap %q", test.n, err, test.trap)
			}
			if moved := uint32(top - pointer.Get()); uint64(moved) != test.moved {
				t.Errorf("the pointer moved by %d; want %d", moved, test.moved)
			}
		})
	}
}

// TestEndsAreNotChecked checks that no check is added to the end of a function, which only frees
// stack.
func TestEndsAreNotChecked(t *testing.T) {
	plain := module(1, enter, keep, recurse, result, leave)
	grown := len(rewrite(t, plain)) - len(plain)
	const check, global = 9, 5 // bytes
	if leaf := module(1, enter, keep, result, leave); len(rewrite(t, leaf)) != len(leaf)+global {
		t.Errorf("Rewrite added a check to a small leaf function")
	}
	if grown != check+global {
		t.Errorf("the module grew by %d bytes; want %d, for one check and a global", grown, check+global)
	}
}

func TestNoStack(t *testing.T) {
	for globals, want := range map[int]error{0: stackguard.ErrNoStack, 1: nil, 2: stackguard.ErrNoStack} {
		code := [][]byte{{0x20, 0}}
		m, err := binary.Parse(module(globals, code...), binary.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stackguard.Rewrite(m); !errors.Is(err, want) {
			t.Errorf("Rewrite of a module with %d globals = %v; want %v", globals, err, want)
		}
	}
}
