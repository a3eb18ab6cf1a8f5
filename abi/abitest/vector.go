package abitest

import "github.com/toolrun/toolrun/abi"

// Vector is a worked example of the ABI. Vector lists the calls of a guest and the results of these
// calls. Vector also contains the guest's memory before the first call and after the last call.
type Vector struct {
	// Name is a description of the example.
	Name string
	// Input and Context are the input and the context of the run, as JSON. "" stands for {}.
	Input, Context string
	// OutputBytes is the size limit for the output and for the context. If OutputBytes is 0, the
	// host's default limit applies.
	OutputBytes int
	// Before contains the initial bytes of the guest's memory. All other bytes of the guest's
	// memory, which is a single page, are zero.
	Before []Span
	// Steps lists the imported functions that the guest calls, in order. If Initializing is true,
	// the guest makes the calls in Steps during initialization.
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
	// Output is the output of the run, and Context contains the context keys that the run set. Both
	// fields are JSON. An empty Output stands for null.
	Output, Context string
	// Calls lists the memory calls that the host received.
	Calls []abi.Call
	// Logs lists the log lines in the format "level text".
	Logs []string
	// Code is the code of the fault of a failed run, or "" for a successful run. Message is a text
	// that the fault's message must contain.
	Code    abi.Code
	Message string
}
