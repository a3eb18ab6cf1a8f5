package double

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// client is an engine whose tools are executed by the client process. The Host treats client as an
// ordinary engine.
type client struct{}

var _ engine.Engine = client{}

// Info describes the engine. The only file extension is the extension of the file that replaces the
// code of every tool.
func (client) Info() engine.Info {
	return engine.Info{Name: "client", Extensions: []string{sourceExtension}}
}

// Isolated returns true, because the tool code runs in another process.
func (client) Isolated() bool { return true }

// Load returns the program of any tool.
func (client) Load(context.Context, engine.Source) (engine.Program, error) { return program{}, nil }

type program struct{}

// runKey is the context key for the *run of Host.Run, because engine.Input has no field for the
// *run.
type runKey struct{}

// Run forwards the calls of the client to the host until the client ends the run.
func (program) Run(ctx context.Context, in engine.Input, h engine.Host) (engine.Output, error) {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return engine.Output{}, errors.New("no request started the run")
	}
	if r.attempts++; r.attempts > 1 {
		return engine.Output{}, &engine.NotStartedError{Fault: again()}
	}
	r.began <- start{Input: in.Input, Context: in.Context}
	for {
		select {
		case c := <-r.commands:
			if c.call == nil {
				return r.leave(c, in.Limits)
			}
			reply, err := h.Call(ctx, *c.call)
			f, refused := errors.AsType[*abi.Fault](err)
			if err != nil && !refused {
				return engine.Output{}, err
			}
			r.replies <- outcome{reply, f}
		case <-ctx.Done():
			return engine.Output{}, engine.FaultFromContext(ctx)
		}
	}
}

// Close does nothing, because client has nothing to free.
func (program) Close() error { return nil }

// again returns the fault for a run that a real host would execute again. A client cannot execute
// its run again.
func again() *abi.Fault {
	return abi.Faultf(abi.Conflict, "another run changed a record that this run had read").
		WithHint("retry the run in the test, as toolrun does")
}

func rolledBack() *abi.Fault { return abi.Faultf(abi.Cancelled, "the run was rolled back") }

// leave ends the run as the client requested.
func (r *run) leave(c command, limits engine.Limits) (engine.Output, error) {
	if c.fault != nil {
		if injected := r.injected[c.fault.ID]; injected != nil {
			return engine.Output{}, &engine.NotStartedError{Fault: injected}
		}
		return engine.Output{}, c.fault
	}
	if err := checkAnswer("output", c.output.Output, limits); err != nil {
		return engine.Output{}, err
	}
	return c.output, checkAnswer("context", c.output.Context, limits)
}

// checkAnswer rejects a document of the client if an engine would reject the same document from
// tool code.
func checkAnswer(name string, text json.RawMessage, limits engine.Limits) error {
	if len(text) == 0 {
		return nil
	}
	if len(text) > limits.OutputBytes {
		return abi.Faultf(abi.OutputLimit, "the %s exceeds %d bytes", name, limits.OutputBytes)
	}
	err := strictjson.Check(text, strictjson.Limits{Depth: limits.ValueNesting})
	if wrong, ok := errors.AsType[*strictjson.Error](err); ok {
		return abi.Faultf(abi.OutputInvalid, "the output cannot be written as JSON: %s: %s", wrong.Where(name, text), wrong.Message)
	}
	return err
}
