package python

import (
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/stackguard"
)

// stackBytes is the size of the stack that the C code of the interpreter runs on. The 512 KiB that it is linked with are
// enough for 40 to 80 nested calls of Python that pass through C, such as those of sorted with a key, for each takes 8 KiB
// and more. It is no part of the memory that a tool may have, as a process's stack is no part of its heap; what of it a
// run does not touch takes no memory.
const stackBytes = 12 << 20

const wasmPage = 64 << 10

// stack is how far the stack of C reaches: it grows down from the pointer, and a pointer below the limit traps.
type stack struct{ pointer, limit api.MutableGlobal }

// stackOf returns the stack of an instance: package stackguard has made the limit the second mutable global of type i32.
func stackOf(in *snapshot.Instance) (s stack, err error) {
	var found []api.MutableGlobal
	for _, global := range in.Globals() {
		if global.Type() == api.ValueTypeI32 {
			found = append(found, global)
		}
	}
	if len(found) != 2 {
		return s, errors.New("python: no global may be the stack pointer")
	}
	return stack{pointer: found[0], limit: found[1]}, nil
}

// overflowed reports whether the stack has grown beyond its limit, or, where it is the one that the interpreter was linked
// with, beyond the start of the memory.
func (s stack) overflowed() bool {
	pointer := uint32(s.pointer.Get())
	return int32(pointer) < 0 || pointer < uint32(s.limit.Get())
}

// reserveStack makes room for a stack at the end of the memory, where the interpreter's allocator will not find it, and
// returns the highest address and the lowest that the stack pointer may have.
func reserveStack(in *snapshot.Instance) (top, limit uint32, err error) {
	pages, ok := in.Guest().Memory().Grow(stackBytes / wasmPage)
	if !ok {
		return 0, 0, errors.New("python: no memory for a stack")
	}
	bottom := pages * wasmPage
	return bottom + stackBytes, bottom + stackguard.Slack, nil
}

// maxCallsOfC is how many calls of C may be nested. One of Python that passes through C counts as two to five of them, and
// takes 4 KiB of the stack for each at most. It is so many that the limit of Python's own calls, which Limits.CallDepth
// sets, is mostly reached first, and so few that the stack suffices: a RecursionError can be caught, a stack that
// overflows ends the run.
const maxCallsOfC = 2200

// allowCalls raises the number of calls of C that may be nested from what the interpreter was built with, which is 500 for
// WASI. The thread's state in CPython 3.12 has three numbers in a row: how many calls of Python may still be nested, how
// many may be nested in all, and how many calls of C may still be. The second is a mark that prepare.py has set. Where
// they are not found, the number stays what it was.
func allowCalls(in *snapshot.Instance, mark uint32) {
	const mostMade = 100 // calls that are under way
	guest := in.Guest().Memory()
	memory, _ := guest.Read(0, guest.Size())
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(memory[at:]) }
	found := 0
	for at := 4; at+8 <= len(memory); at += 4 {
		if number(at) != mark {
			continue
		}
		made, ofC := mark-number(at-4), number(at+4)
		if made > mostMade || ofC == 0 || ofC > maxCallsOfC {
			continue
		}
		if found != 0 {
			return // two places look alike
		}
		found = at + 4
	}
	if found != 0 {
		binary.LittleEndian.PutUint32(memory[found:], maxCallsOfC)
	}
}
