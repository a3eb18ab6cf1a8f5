package abitest

import "github.com/toolrun/toolrun/abi"

// Vector is a worked example of the ABI. Vector lists the calls of a guest, their results, and the
// guest's memory before and after the calls.
type Vector struct {
	// Name is a description of the example.
	Name string
	// Input and Context are the input and the context of the run, as JSON. "" stands for {}.
	Input, Context string
	// OutputBytes is the size limit of the output and of the context. 0 means the host's default.
	OutputBytes int
	// Before contains the initial bytes of the guest's memory. All other bytes of its single page
	// are zero.
	Before []Span
	// Steps lists the imported functions that the guest calls, in order. If Initializing is true,
	// the guest calls these functions during initialization.
	Steps        []Step
	Initializing bool
	// After contains bytes that the guest's memory must contain after the last step.
	After []Span
	// Exit is the number that the entry point returns.
	Exit int32
	// Want is the effect that the run must have on the host.
	Want Effect
}

// Span is a sequence of bytes at an address in the guest's memory.
type Span struct {
	At    uint32
	Bytes string
}

// Step is a call to an imported function.
type Step struct {
	// Function is the qualified name of the function, such as "toolrun.input_len".
	Function string
	Args     []int64 // each argument is an i32, signed or unsigned
	Result   int32
}

// Effect is the effect of a run on its host.
type Effect struct {
	// Output and Context are the output of the run and the context keys that it set, as JSON. An
	// empty Output stands for null.
	Output, Context string
	// Calls lists the memory calls that the host received.
	Calls []abi.Call
	// Logs lists the log lines in the format "level text".
	Logs []string
	// Code is the code of the fault of a failed run, or "" for a successful run. Message is a
	// substring of the fault's message.
	Code    abi.Code
	Message string
}
