package abitest

import "github.com/toolrun/toolrun/abi"

// Vector is a worked example: what a guest calls, what it is answered, and what then is where.
type Vector struct {
	// Name says what the example shows.
	Name string
	// Input and Context are the documents of the run; "" is {}.
	Input, Context string
	// OutputBytes bounds the output and the context; 0 is the host's default.
	OutputBytes int
	// Before is in the guest's memory, which is one page of zeros otherwise.
	Before []Span
	// Steps are the guest's calls, in order. Where Initialising is set it makes them while it initialises.
	Steps        []Step
	Initialising bool
	// After is in the guest's memory at the end.
	After []Span
	// Exit is what the entry answers.
	Exit int32
	// Want is what the host saw.
	Want Effect
}

// Span is bytes at a place in the guest's memory.
type Span struct {
	At    uint32
	Bytes string
}

// Step is a call of an imported function.
type Step struct {
	// Function is its module and name, such as "toolrun.input_len".
	Function string
	Args     []int64 // i32, signed or not
	Answer   int32
}

// Effect is what a run left with its host.
type Effect struct {
	// Output and Context are those of the Result; Output is "null" where it is "" here.
	Output, Context string
	// Calls are those that reached the memory.
	Calls []abi.Call
	// Logs are "level text".
	Logs []string
	// Code is that of the fault that the run ended with, "" for success; Message is a part of its text.
	Code    abi.Code
	Message string
}
