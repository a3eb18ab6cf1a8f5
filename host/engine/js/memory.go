package js

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxArgumentBytes bounds one argument of a memory call. The host bounds what is stored; this keeps the
// encoder from writing without end.
const maxArgumentBytes = 16 << 20

// maxNameBytes is how much of a name that a call must not use is told.
const maxNameBytes = 64

// makeMemory makes an object of the operations.
func (r *run) makeMemory() goja.Value {
	names := make([]string, 0, len(r.program.operations))
	members := make(map[string]func() goja.Value, len(r.program.operations))
	for i := range r.program.operations {
		op := &r.program.operations[i]
		names = append(names, op.Name)
		members[op.Name] = func() goja.Value { return r.method(op) }
	}
	return r.guestObject(names, members)
}

// method makes the function of an operation.
func (r *run) method(op *abi.Operation) goja.Value {
	function := r.native(op.Name, r.operation(op))
	_ = function.DefineDataProperty("length", r.vm.ToValue(len(op.Params)), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return function
}

// operation is what an async function of the prelude would be, without what such a function costs a fresh
// runtime: it acts when it is called, and answers a promise that has settled.
func (r *run) operation(op *abi.Operation) nativeFunc {
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

// arrange puts the arguments of a call into the order of the operation's parameters, which may be given as one
// object by their names. It does what the prelude does for Node, but looks at no name that a guest can change.
func (r *run) arrange(op *abi.Operation, args []goja.Value) []goja.Value {
	if len(args) > len(op.Params) {
		r.refuseCall(op, "takes at most %d arguments, not %d", len(op.Params), len(args))
	}
	if len(args) == 0 {
		return nil
	}
	named, ok := args[0].(*goja.Object)
	if !ok || !r.holdsNames(named) {
		return args
	}
	if len(args) > 1 {
		r.refuseCall(op, "takes either arguments by place or one object of named arguments, not both")
	}
	return r.arrangeNamed(op, named)
}

// holdsNames reports whether an object is none of those that are an argument by themselves.
func (r *run) holdsNames(o *goja.Object) bool {
	if _, ok := goja.AssertFunction(o); ok {
		return false
	}
	kind, _ := r.classify(o)
	return kind != array
}

func (r *run) arrangeNamed(op *abi.Operation, named *goja.Object) []goja.Value {
	args := make([]goja.Value, len(op.Params))
	for _, key := range named.Keys() {
		place := slices.IndexFunc(op.Params, func(p abi.Param) bool { return p.Name == key || slices.Contains(p.Aliases, key) })
		if place < 0 {
			r.refuseCall(op, "has no argument named %s; its arguments are %s", appendQuoted(nil, cut(key, maxNameBytes)), paramNames(op))
		}
		if !isUndefined(args[place]) {
			r.refuseCall(op, "got its argument %s under two names", op.Params[place].Name)
		}
		args[place] = named.Get(key)
	}
	return args
}

func paramNames(op *abi.Operation) string {
	names := make([]string, len(op.Params))
	for i, p := range op.Params {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// refuseCall throws what says that a call itself is malformed.
func (r *run) refuseCall(op *abi.Operation, format string, values ...any) {
	f := abi.Faultf(abi.InvalidArgument, format, values...)
	f.Message = cut(op.Name+" "+f.Message, maxMessageBytes)
	f.Op = op.Name
	r.raise(f)
}

// callHost performs a memory operation.
func (r *run) callHost(op *abi.Operation, args []goja.Value) goja.Value {
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
func (r *run) arguments(op *abi.Operation, values []goja.Value) abi.Call {
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
		r.readNone = true
		return goja.Null()
	}
	value, err := r.parseJSON(text)
	if err != nil {
		f := abi.Faultf(abi.TooLarge, "%s: the reply cannot be read: %v", op, err)
		f.Op = op
		r.raise(f)
	}
	r.readNone = r.readNone || goja.IsNull(value)
	return value
}
