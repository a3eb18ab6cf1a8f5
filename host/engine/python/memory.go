package python

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// maxArgumentBytes is the maximum size of one argument of a memory call. The maximum is the same in
// all engines. The host has another limit for the size of stored content.
const maxArgumentBytes = 16 << 20

// maxDeclined is the maximum number of malformed memory calls in a run. The host limits the number
// of memory calls, but malformed calls never reach the host. Malformed calls therefore need this
// separate limit.
const maxDeclined = 1000

// memoryCalls checks the memory calls of a guest and passes them to the host.
type memoryCalls struct {
	host    func(context.Context, abi.Call) (json.RawMessage, error) // nil if the run has no memory operations
	table   abi.Table                                                // the operations that the tool can call
	nesting int                                                      // the maximum nesting of an argument

	issued   []*abi.Fault // the faults that the host raised in the guest
	declined int          // the number of malformed calls
}

// call performs a memory operation and returns the reply for the guest. The arguments are JSON
// texts in the order of the parameters. For an absent argument, the text is empty. The argument
// "running" reports whether the guest is processing a run.
func (m *memoryCalls) call(ctx context.Context, op string, args []string, running bool) ([]byte, error) {
	operation, refused := m.operation(op, running)
	if refused != nil {
		return m.decline(op, refused)
	}
	call, refused := m.arguments(operation, args)
	if refused != nil {
		return m.decline(op, refused)
	}
	reply, err := m.host(ctx, call)
	if err == nil {
		return append([]byte("ok\n"), reply...), nil
	}
	fault, ok := err.(*abi.Fault)
	if !ok {
		return nil, err
	}
	return m.raise(op, fault)
}

// operation returns the operation with a given name. If the guest cannot use the operation now, the
// method returns a fault.
func (m *memoryCalls) operation(op string, running bool) (abi.Operation, *abi.Fault) {
	operation, ok := m.table.Lookup(op)
	switch {
	case !ok:
		return operation, abi.Faultf(abi.InvalidArgument, "the operation does not exist")
	case !running:
		return operation, abi.Faultf(abi.InvalidArgument, "%s: the module %s is only available in the entry function, not at the tool's top level", op, operation.ModuleName()).
			WithHint("move the call into the entry function; several runs can share one execution of the top level")
	case m.host == nil:
		return operation, abi.Faultf(abi.NotFound, "the module %s is not available in this run", operation.ModuleName())
	}
	return operation, nil
}

// arguments checks the arguments of a memory call.
func (m *memoryCalls) arguments(op abi.Operation, args []string) (abi.Call, *abi.Fault) {
	call := abi.Call{Op: op.Name, Args: make([]json.RawMessage, 0, len(op.Params))}
	if len(args) > len(op.Params) {
		return call, abi.Faultf(abi.InvalidArgument, "the operation %s takes at most %d arguments, not %d", op.Name, len(op.Params), len(args))
	}
	for i, text := range args {
		if text == "" {
			call.Args = append(call.Args, nil)
			continue
		}
		name := op.Params[i].Name
		if len(text) > maxArgumentBytes {
			return call, abi.Faultf(abi.TooLarge, "%s: the %s has %d bytes; the limit is %d", op.Name, name, len(text), maxArgumentBytes)
		}
		if err := checkJSON(name, []byte(text), m.nesting); err != nil {
			code := abi.InvalidArgument
			if err.deep {
				code = abi.TooLarge
			}
			return call, abi.Faultf(code, "%s: %v", op.Name, err)
		}
		call.Args = append(call.Args, json.RawMessage(text))
	}
	return call, nil
}

// refuse raises an error in the guest for a malformed call that the SDK in the guest has detected.
func (m *memoryCalls) refuse(op, kind, message string) ([]byte, error) {
	code := abi.InvalidArgument
	if kind == "deep" {
		code = abi.TooLarge
	}
	return m.decline(op, abi.Faultf(code, "%s", quoted([]byte(message), maxMessageBytes)))
}

// decline handles a malformed call that the host never receives. The method raises a fault in the
// guest.
func (m *memoryCalls) decline(op string, f *abi.Fault) ([]byte, error) {
	if m.declined++; m.declined > maxDeclined {
		return nil, abi.Faultf(abi.CallLimit, "the run exceeded the limit of %d malformed memory calls", maxDeclined).
			WithHint("correct the calls: each malformed call raises an exception with the reason")
	}
	return m.raise(op, f)
}

// raise returns a reply that raises a fault in the guest. The reply contains a number for the
// fault. The guest can later report an error that contains this number. The host then looks up the
// fault in its own list.
func (m *memoryCalls) raise(op string, f *abi.Fault) ([]byte, error) {
	named := *f
	if named.Op == "" {
		named.Op = cut([]byte(op), maxNameBytes)
	}
	m.issued = append(m.issued, &named)
	shown := named
	shown.ID = ""
	text, err := json.Marshal(&shown)
	if err != nil {
		return nil, abi.Faultf(abi.Internal, "cannot encode a fault: %v", err)
	}
	return fmt.Appendf(nil, "fault\n%d\n%s", len(m.issued)-1, text), nil
}

// jsonError contains the location of invalid JSON and the reason.
type jsonError struct {
	text string
	deep bool // the nesting of the JSON text is too deep
}

func (e *jsonError) Error() string { return e.text }

// checkJSON checks JSON text from the guest.
func checkJSON(name string, text []byte, nesting int) *jsonError {
	err := strictjson.Check(text, strictjson.Limits{Depth: nesting})
	if err == nil {
		return nil
	}
	wrong, ok := err.(*strictjson.Error)
	if !ok {
		return &jsonError{text: name + ": " + err.Error()}
	}
	location := wrong.Where(name, text)
	if wrong.Kind == strictjson.TooDeep {
		return &jsonError{text: fmt.Sprintf("%s is nested deeper than %d levels", location, nesting), deep: true}
	}
	return &jsonError{text: location + ": " + wrong.Message}
}
