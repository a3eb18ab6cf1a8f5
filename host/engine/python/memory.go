package python

import (
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// maxArgumentBytes bounds one argument of a memory call, as in every engine. The host bounds what is stored.
const maxArgumentBytes = 16 << 20

// call performs a memory operation. The arguments are JSON texts in the order of the parameters, empty where absent.
func (r *run) call(op string, args []string) ([]byte, error) {
	operation, refused := r.operation(op)
	if refused != nil {
		return r.decline(op, refused)
	}
	call, refused := r.arguments(operation, args)
	if refused != nil {
		return r.decline(op, refused)
	}
	reply, err := r.host.Call(r.ctx, call)
	if err == nil {
		return append([]byte("ok\n"), reply...), nil
	}
	given, ok := err.(*abi.Fault)
	if !ok {
		return nil, err
	}
	return r.raise(op, given)
}

// operation finds an operation that the guest may use now.
func (r *run) operation(op string) (abi.Operation, *abi.Fault) {
	operation, ok := r.table.Lookup(op)
	switch {
	case !ok:
		return operation, abi.Faultf(abi.InvalidArgument, "there is no such operation")
	case r.doing != "run":
		return operation, abi.Faultf(abi.InvalidArgument, "%s: there is no memory while the top level of a tool runs that has an entry", op).
			WithHint("call memory from the entry: the top level may run once for many runs")
	case r.host.Call == nil:
		return operation, abi.Faultf(abi.NotFound, "this run has no memory")
	}
	return operation, nil
}

// arguments checks what a guest passes.
func (r *run) arguments(op abi.Operation, args []string) (abi.Call, *abi.Fault) {
	call := abi.Call{Op: op.Name, Args: make([]json.RawMessage, 0, len(op.Params))}
	if len(args) > len(op.Params) {
		return call, abi.Faultf(abi.InvalidArgument, "%s takes at most %d arguments, not %d", op.Name, len(op.Params), len(args))
	}
	for i, text := range args {
		if text == "" {
			call.Args = append(call.Args, nil)
			continue
		}
		name := op.Params[i].Name
		if len(text) > maxArgumentBytes {
			return call, abi.Faultf(abi.TooLarge, "%s: the %s has %d bytes, and may have %d", op.Name, name, len(text), maxArgumentBytes)
		}
		if err := r.check(name, []byte(text)); err != nil {
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

// refuse raises what says that a call itself is malformed, in the words of the guest's own half.
func (r *run) refuse(op, kind, message string) ([]byte, error) {
	code := abi.InvalidArgument
	if kind == "deep" {
		code = abi.TooLarge
	}
	return r.decline(op, abi.Faultf(code, "%s", quoted([]byte(message), maxMessageBytes)))
}

// maxDeclined is how many calls of a run may be malformed. The host, which bounds calls, never hears of these.
const maxDeclined = 1000

// decline raises what is wrong with a call that the host is not asked about.
func (r *run) decline(op string, f *abi.Fault) ([]byte, error) {
	if r.declined++; r.declined > maxDeclined {
		return nil, abi.Faultf(abi.CallLimit, "the run made more than %d memory calls that are malformed", maxDeclined)
	}
	return r.raise(op, f)
}

// raise gives the guest a fault under a number. What comes back out of the guest is believed by that alone.
func (r *run) raise(op string, f *abi.Fault) ([]byte, error) {
	named := *f
	if named.Op == "" {
		named.Op = cut([]byte(op), maxNameBytes)
	}
	r.issued = append(r.issued, &named)
	shown := named
	shown.ID = ""
	text, err := json.Marshal(&shown)
	if err != nil {
		return nil, abi.Faultf(abi.Internal, "a fault cannot be written: %v", err)
	}
	return fmt.Appendf(nil, "fault\n%d\n%s", len(r.issued)-1, text), nil
}

// unfit is a text that is no value which may cross: where, and what is wrong.
type unfit struct {
	text string
	deep bool
}

func (u *unfit) Error() string { return u.text }

// check looks at a JSON text of the guest's.
func (r *run) check(name string, text []byte) *unfit {
	err := strictjson.Check(text, strictjson.Limits{Depth: r.limits.ValueNesting})
	if err == nil {
		return nil
	}
	wrong, ok := err.(*strictjson.Error)
	if !ok {
		return &unfit{text: name + ": " + err.Error()}
	}
	where := wrong.Where(name, text)
	if wrong.Kind == strictjson.TooDeep {
		return &unfit{text: fmt.Sprintf("%s is nested deeper than %d levels", where, r.limits.ValueNesting), deep: true}
	}
	return &unfit{text: where + ": " + wrong.Message}
}
