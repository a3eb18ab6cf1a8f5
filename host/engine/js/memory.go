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

// makeMemory makes an object of the operations.
func (r *run) makeMemory() goja.Value {
	members := make(map[string]func() goja.Value, len(r.program.operations))
	for _, op := range r.program.operations {
		members[op.Name] = func() goja.Value { return r.native(op.Name, r.operation(op)) }
	}
	return r.lazyObject(members)
}

// operation is what an async function of the prelude would be, without what such a function costs a fresh
// runtime: it acts when it is called, and answers a promise that has settled.
func (r *run) operation(op abi.Operation) nativeFunc {
	return func(call goja.FunctionCall) goja.Value {
		promise, resolve, reject := r.vm.NewPromise()
		var reply goja.Value
		settle := resolve
		if thrown := r.vm.Try(func() { reply = r.callHost(op, r.arrange(op, call.Arguments)) }); thrown != nil {
			settle, reply = reject, thrown.Value()
		}
		if err := settle(reply); err != nil {
			panic(err) // the run was stopped
		}
		return r.vm.ToValue(promise)
	}
}

// arrange puts the arguments of a call into the order of the operation's parameters. Those that are not there
// already are left to the prelude.
func (r *run) arrange(op abi.Operation, args []goja.Value) []goja.Value {
	if len(args) == 0 {
		return nil
	}
	if _, named := args[0].(*goja.Object); !named && len(args) <= len(op.Params) {
		return args
	}
	refuse := r.native("refuse", func(call goja.FunctionCall) goja.Value {
		f := abi.Faultf(abi.InvalidArgument, "%s %s", op.Name, call.Argument(0).String())
		f.Op = op.Name
		r.raise(f)
		return nil
	})
	given := make([]any, len(args))
	for i, arg := range args {
		given[i] = arg
	}
	arranged := r.create("memory.js", "arrange", r.mustParse(op.Params), r.vm.NewArray(given...), refuse).(*goja.Object)
	out := make([]goja.Value, len(op.Params))
	for i := range out {
		out[i] = arranged.Get(strconv.Itoa(i))
	}
	return out
}

// callHost performs a memory operation.
func (r *run) callHost(op abi.Operation, args []goja.Value) goja.Value {
	if r.halted != nil {
		return goja.Undefined()
	}
	request := r.arguments(op, args)
	if r.host.Call == nil {
		r.raise(&abi.Fault{Code: abi.NotFound, Op: op.Name, Message: "this run has no memory"})
	}
	reply, err := r.host.Call(r.ctx, request)
	if err == nil {
		return r.reply(op.Name, reply)
	}
	if fault, ok := err.(*abi.Fault); ok {
		r.raise(fault)
	}
	r.halt(err)
	return goja.Undefined()
}

// arguments writes the arguments of a call as JSON.
func (r *run) arguments(op abi.Operation, values []goja.Value) abi.Call {
	call := abi.Call{Op: op.Name, Args: make([]json.RawMessage, 0, len(values))}
	for i, value := range values {
		name := op.Params[i].Name
		text, refused := r.encode(name, value, bounds{nesting: r.limits.ValueNesting, bytes: maxArgumentBytes})
		if refused != nil {
			r.raise(argumentFault(op.Name, refused))
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
