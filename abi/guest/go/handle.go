package toolrun

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/guest/go/internal/imports"
)

// entry is what a run calls, nil where there is no handler.
var entry func() int32

// Handle makes f the tool: each run calls it with the input, and its first result is the output. It is called once,
// from an init function, since the main function of a plug-in never runs; a second call panics.
//
// The input is decoded by encoding/json; with json.RawMessage as In, f gets it as it is. An error of f fails the
// run, as does a panic, which is told with its stack. What a failed run wrote to memory is not stored.
func Handle[In, Out any](f func(In) (Out, error)) {
	if entry != nil {
		panic("toolrun: Handle was called twice; a second entry is a function of its own that calls Run")
	}
	entry = func() int32 { return Run(f) }
}

// Run is one run of f, and returns what an entry answers to the host: 0 where it succeeded. Handle calls it; a
// plug-in with further entries, which a manifest names, exports them itself:
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
		return fail(failure{Message: "the input does not fit the tool: " + err.Error()})
	}
	out, err := f(in)
	if err != nil {
		return fail(failed(err))
	}
	return answer(out)
}

// answer hands out the output.
func answer(out any) int32 {
	text, err := encode(out)
	if err != nil {
		return fail(failure{Message: "the output cannot be JSON: " + err.Error()})
	}
	if number := imports.WriteOutput(text); number < 0 {
		return fail(failure{Message: fmt.Sprintf("the output of %d bytes was refused: %s", len(text), codeOf(number))})
	}
	return 0
}

// failure is why a run fails, as error_write takes it.
type failure struct {
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Stack   string `json:"stack,omitempty"`
	ID      string `json:"id,omitempty"` // of the fault that the host gave and that it is to fail with
}

// fail hands out a failure, and is what an entry answers then.
func fail(f failure) int32 {
	text, err := encode(f)
	if err != nil {
		text = []byte(f.Message) // strings and numbers are always JSON
	}
	imports.WriteError(text)
	return 1
}

// failed is the failure that an error of the handler means. Where a plain error comes from is not known in Go.
func failed(err error) failure {
	f := failure{Message: err.Error()}
	if fault, ok := errors.AsType[*abi.Fault](err); ok {
		f.File, f.Line, f.Stack, f.ID = fault.File, fault.Line, fault.Stack, fault.ID
	}
	return f
}

// panicked is the failure that a panic means. It is called while the handler's frames are still there.
func panicked(cause any) failure {
	f := failure{Message: "panic: " + fmt.Sprint(cause)} // Sprint survives an Error method that panics
	if err, ok := cause.(error); ok {
		if fault, ok := errors.AsType[*abi.Fault](err); ok {
			f.ID = fault.ID
		}
	}
	f.File, f.Line, f.Stack = here()
	return f
}
