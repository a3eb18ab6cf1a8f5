package python

import (
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/stackguard"
)

// stackBytes is the size of the stack for the interpreter's C code. The interpreter is linked with
// a stack of 512 KiB. Some Python calls pass through C code. An example is a call to sorted with a
// key function. Each such call uses 8 KiB or more, so a stack of 512 KiB is enough for only 40 to
// 80 nested calls. The stack for C code does not count towards the memory limit of a tool. If a run
// does not touch a page of the stack, the page uses no memory.
const stackBytes = 12 << 20

const wasmPage = 64 << 10

// stack gives access to the C stack of an instance. The stack grows down. If the stack pointer
// would fall below the limit, the guest traps.
type stack struct{ pointer, limit api.MutableGlobal }

// stackOf returns the stack of an instance. The stack pointer is the first mutable global of type
// i32. The second mutable global of type i32 contains the stack limit. Package stackguard adds this
// global.
func stackOf(in *snapshot.Instance) (s stack, err error) {
	var found []api.MutableGlobal
	for _, global := range in.Globals() {
		if global.Type() == api.ValueTypeI32 {
			found = append(found, global)
		}
	}
	if len(found) != 2 {
		return s, errors.New("python: the module has no global for the stack pointer or limit")
	}
	return stack{pointer: found[0], limit: found[1]}, nil
}

// overflowed reports whether the stack has grown beyond its limit. The linker places the original
// stack at the start of the memory. The limit of the original stack is therefore address 0.
func (s stack) overflowed() bool {
	pointer := uint32(s.pointer.Get())
	return int32(pointer) < 0 || pointer < uint32(s.limit.Get())
}

// reserveStack grows the memory and reserves the new part for a stack. The interpreter's allocator
// does not use this part. reserveStack returns the highest and the lowest valid value of the stack
// pointer.
func reserveStack(in *snapshot.Instance) (top, limit uint32, err error) {
	pages, ok := in.Guest().Memory().Grow(stackBytes / wasmPage)
	if !ok {
		return 0, 0, errors.New("python: not enough memory for a stack")
	}
	bottom := pages * wasmPage
	return bottom + stackBytes, bottom + stackguard.Slack, nil
}

// maxCCalls is the maximum number of nested C calls. One Python call that passes through C counts
// as two to five C calls, and each C call uses at most 4 KiB of the stack. maxCCalls is so high
// that a guest usually exceeds Limits.CallDepth, the limit on nested Python calls, before the guest
// overflows the stack. A tool can catch the resulting RecursionError, but a stack overflow ends the
// run.
const maxCCalls = 2200

// allowCalls raises the limit on nested C calls, which is 500 in the WASI build of CPython. The
// thread state of CPython 3.12 contains three adjacent numbers: the remaining Python calls, the
// recursion limit and the remaining C calls. prepare.py sets the recursion limit to a special
// value, and allowCalls searches the memory for this value. If allowCalls does not find the value,
// the limit on C calls does not change.
func allowCalls(in *snapshot.Instance, mark uint32) {
	const maxActive = 100 // more calls cannot be active now
	guest := in.Guest().Memory()
	memory, _ := guest.Read(0, guest.Size())
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(memory[at:]) }
	found := 0
	for at := 4; at+8 <= len(memory); at += 4 {
		if number(at) != mark {
			continue
		}
		active, cCalls := mark-number(at-4), number(at+4)
		if active > maxActive || cCalls == 0 || cCalls > maxCCalls {
			continue
		}
		if found != 0 {
			return // ambiguous: two positions match
		}
		found = at + 4
	}
	if found != 0 {
		binary.LittleEndian.PutUint32(memory[found:], maxCCalls)
	}
}
