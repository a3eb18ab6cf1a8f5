package binary

import "fmt"

// Kind says why a module was refused, so that callers can answer each reason in their own way.
type Kind int

// The kinds of refusals.
const (
	NotWasm       Kind = iota + 1 // the bytes do not begin like WebAssembly: a text, an archive, nothing at all
	Component                     // a component of the component model, not a core module
	Version                       // a version of the binary format that is not 1
	Truncated                     // the bytes end before what they announce
	Malformed                     // the bytes break the binary format
	OverLimit                     // something is larger, or there is more of it, than Limits allow
	UnknownOpcode                 // an instruction that is not part of WebAssembly 2.0
	MultiMemory                   // more than one memory
	Memory64                      // a memory or a table with 64-bit addresses
	SharedMemory                  // a memory that threads share
	Unsupported                   // another part of a proposal past WebAssembly 2.0
)

var kindNames = map[Kind]string{
	NotWasm: "not wasm", Component: "component", Version: "version", Truncated: "truncated", Malformed: "malformed",
	OverLimit: "over limit", UnknownOpcode: "unknown opcode", MultiMemory: "multi-memory", Memory64: "memory64",
	SharedMemory: "shared memory", Unsupported: "unsupported",
}

// String returns the kind in words, such as "over limit".
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind %d", int(k))
}

// Error is why a module was refused. Its texts hold nothing but what the module itself says and what this
// package allows, so they may be shown to the module's author.
type Error struct {
	Kind Kind
	// Offset is where in the module the refused part begins, in bytes.
	Offset int
	// Message says what is wrong and, where there is something to do, what to do about it.
	Message string
}

// Error returns the message and the offset.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (at byte %#x)", e.Message, e.Offset)
}

func errorAt(kind Kind, offset int, format string, args ...any) *Error {
	return &Error{Kind: kind, Offset: offset, Message: fmt.Sprintf(format, args...)}
}
