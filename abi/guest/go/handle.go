package toolrun

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// entry is the function that each run calls. entry is nil before Handle is called.
var entry func() int32

// Handle registers f as the tool. Each run calls f with the input, and the first result of f is the
// output of the run. Call Handle once, in an init function, because the main function of a plug-in
// never runs. A second call panics.
//
// Package encoding/json decodes the input. If In is json.RawMessage, f gets the input unchanged.
// The run fails if f returns an error or panics. After a panic, the fault contains the stack. The
// writes of a failed run are not stored.
func Handle[In, Out any](f func(In) (Out, error)) {
	if entry != nil {
		panic("toolrun: Handle was called twice; for each additional entry, export a function that calls Run")
	}
	entry = func() int32 { return Run(f) }
}

// Run calls f once and returns the result of an entry point: 0 if f succeeded. Handle exports the
// default entry point. A plug-in can export additional entry points, which manifests select by
// name:
//
//	//go:wasmexport forget
//	func forget() int32 { return toolrun.Run(forgetUser) }
func Run[In, Out any](f func(In) (Out, error)) (code int32) {
	defer func() {
		if cause := recover(); cause != nil {
			code = fail(panicked(cause))
		}
	}()
	var in In
	if err := json.Unmarshal(imports.Input(), &in); err != nil {
		return fail(failure{Message: "cannot decode the input: " + err.Error()})
	}
	out, err := f(in)
	if err != nil {
		return fail(failed(err))
	}
	return writeOutput(out)
}

// writeOutput passes the output to the host and returns the result of the entry point.
func writeOutput(out any) int32 {
	text, err := encode(out)
	if err != nil {
		return fail(failure{Message: "cannot encode the output as JSON: " + err.Error()})
	}
	if number := imports.WriteOutput(text); number < 0 {
		return fail(failure{Message: fmt.Sprintf("the host rejected the output of %d bytes: %s", len(text), codeOf(number))})
	}
	return 0
}

// failure is the error of a failed run, in the format of the function error_write.
type failure struct {
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Stack   string `json:"stack,omitempty"`
	ID      string `json:"id,omitempty"` // the ID of the host's fault, if the run fails with this fault
}

// fail passes a failure to the host and returns the result of the entry point.
func fail(f failure) int32 {
	text, err := encode(f)
	if err != nil {
		text = []byte(f.Message) // strings and numbers can always be encoded
	}
	imports.WriteError(text)
	return 1
}

// failed converts an error of the handler to a failure. If the error is a plain Go error, failed
// sets no position, because such an error contains no position.
func failed(err error) failure {
	f := failure{Message: err.Error()}
	if fault, ok := errors.AsType[*abi.Fault](err); ok {
		f.File, f.Line, f.Stack, f.ID = fault.File, fault.Line, fault.Stack, fault.ID
	}
	return f
}

// panicked converts the value of a panic to a failure. Call panicked in a deferred function, while
// the frames of the handler are still on the stack.
func panicked(cause any) failure {
	f := failure{Message: "panic: " + fmt.Sprint(cause)} // Sprint does not fail if an Error method panics
	if err, ok := cause.(error); ok {
		if fault, ok := errors.AsType[*abi.Fault](err); ok {
			f.ID = fault.ID
		}
	}
	f.File, f.Line, f.Stack = here()
	return f
}
