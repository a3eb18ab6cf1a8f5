package abitest

import "github.com/toolrun/toolrun/abi"

// Vector is a worked example: the calls of a guest with their results, and the memory before and
// after.
type Vector struct {
	// Name is a description of the example.
	Name string
	// Input and Context are the documents of the run; "" is {}.
	Input, Context string
	// OutputBytes limits the output and the context; 0 means the host's default.
	OutputBytes int
	// Before is the initial content of the guest's memory, which is one page of zeros otherwise.
	Before []Span
	// Steps are the guest's calls, in order. If Initialising is set, the guest makes them while it
	// initialises.
	Steps        []Step
	Initialising bool
	// After is the expected content of the guest's memory at the end.
	After []Span
	// Exit is the result of the entry.
	Exit int32
	// Want is the expected effect on the host.
	Want Effect
}

// Span is a sequence of bytes at an address in the guest's memory.
type Span struct {
	At    uint32
	Bytes string
}

// Step is a call of an imported function.
type Step struct {
	// Function is the module and the name of the function, such as "toolrun.input_len".
	Function string
	Args     []int64 // i32, signed or unsigned
	Result   int32
}

// Effect is the effect of a run on its host.
type Effect struct {
	// Output and Context are the output and the context of the run's result. An Output of "" stands
	// for "null".
	Output, Context string
	// Calls are the calls that reached the memory.
	Calls []abi.Call
	// Logs are the log lines, each as "level text".
	Logs []string
	// Code is the code of the fault that the run failed with, or "" for success. Message is a part
	// of its message.
	Code    abi.Code
	Message string
}
