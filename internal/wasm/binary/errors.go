package binary

import "fmt"

// Kind is the reason why a module was rejected.
type Kind int

// The kinds of errors.
const (
	NotWasm       Kind = iota + 1 // the data does not begin with the magic number; for example, text or an archive
	Component                     // the data is a component of the component model, not a core module
	Version                       // the data has a version of the binary format other than 1
	Truncated                     // the data ends before its announced size
	Malformed                     // the data violates the binary format
	OverLimit                     // the module exceeds Limits
	UnknownOpcode                 // an instruction does not exist in WebAssembly 2.0
	MultiMemory                   // more than one memory
	Memory64                      // a memory or a table has 64-bit addresses
	SharedMemory                  // several threads can use a memory
	Unsupported                   // the module uses another feature later than WebAssembly 2.0
)

var kindNames = map[Kind]string{
	NotWasm: "not wasm", Component: "component", Version: "version", Truncated: "truncated", Malformed: "malformed",
	OverLimit: "over limit", UnknownOpcode: "unknown opcode", MultiMemory: "multi-memory", Memory64: "memory64",
	SharedMemory: "shared memory", Unsupported: "unsupported",
}

// String returns the kind as text, such as "over limit".
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind %d", int(k))
}

// Error is the error for a rejected module. The message of an Error contains only data of the
// module and the limits of this package, so the author of the module may see the message.
type Error struct {
	Kind Kind
	// Offset is the offset of the rejected part in the module, in bytes.
	Offset int
	// Message describes the problem and, if possible, how to solve it.
	Message string
}

// Error returns the message and the offset.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (at byte %#x)", e.Message, e.Offset)
}

func errorAt(kind Kind, offset int, format string, args ...any) *Error {
	return &Error{Kind: kind, Offset: offset, Message: fmt.Sprintf(format, args...)}
}
