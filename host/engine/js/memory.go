package js

import (
	"encoding/json"
	"strconv"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxArgumentBytes bounds one argument of a memory call. The host bounds what is stored; this keeps the
// encoder from writing without end.
const maxArgumentBytes = 16 << 20

func (r *run) makeMemory() goja.Value {
	operations, err := r.vm.RunProgram(r.program.operations)
	if err != nil {
		panic(err)
	}
	return r.create("memory.js", "createMemory", operations, r.hostObject(map[string]nativeFunc{
		"call":   r.callHost,
		"refuse": r.refuseCall,
	}))
}

// callHost performs a memory operation: call(name, args).
func (r *run) callHost(call goja.FunctionCall) goja.Value {
	if r.halted != nil {
		return goja.Undefined()
	}
	request := r.arguments(call.Argument(0).String(), call.Argument(1).ToObject(r.vm))
	if r.host.Call == nil {
		r.raise(&abi.Fault{Code: abi.NotFound, Op: request.Op, Message: "this run has no memory"})
	}
	reply, err := r.host.Call(r.ctx, request)
	if err == nil {
		return r.reply(request.Op, reply)
	}
	if fault, ok := err.(*abi.Fault); ok {
		r.raise(fault)
	}
	r.halt(err)
	return goja.Undefined()
}

// arguments writes the arguments of a call as JSON.
func (r *run) arguments(op string, values *goja.Object) abi.Call {
	table, _ := abi.LookupOperation(op)
	call := abi.Call{Op: op}
	// A guest can replace what the prelude uses, so the length is not believed beyond the table.
	for i := range min(values.Get("length").ToInteger(), int64(len(table.Params))) {
		name := table.Params[i].Name
		text, refused := r.encode(name, values.Get(itoa(i)), bounds{nesting: r.limits.ValueNesting, bytes: maxArgumentBytes})
		if refused != nil {
			r.raise(argumentFault(op, refused))
		}
		call.Args = append(call.Args, json.RawMessage(text))
	}
	return call
}

func argumentFault(op string, refused *refusal) *abi.Fault {
	code := abi.InvalidArgument
	if refused.kind != notJSON {
		code = abi.TooLarge
	}
	f := abi.Faultf(code, "%s: %v", op, refused)
	f.Op = op
	return f
}

// refuseCall raises the fault of a call that is malformed: refuse(name, message).
func (r *run) refuseCall(call goja.FunctionCall) goja.Value {
	op := call.Argument(0).String()
	f := abi.Faultf(abi.InvalidArgument, "%s %s", op, call.Argument(1).String())
	f.Op = op
	r.raise(f)
	return nil
}

func (r *run) reply(op string, text json.RawMessage) goja.Value {
	if len(text) == 0 {
		return goja.Null()
	}
	value, err := r.parseJSON(text)
	if err != nil {
		f := abi.Faultf(abi.TooLarge, "%s: the reply cannot be read: %v", op, err)
		f.Op = op
		r.raise(f)
	}
	return value
}

func itoa(i int64) string { return strconv.FormatInt(i, 10) }
