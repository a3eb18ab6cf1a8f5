package js

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxArgumentBytes is the maximum size of one argument of a memory call. The limit protects the
// encoder. A smaller limit is unnecessary, because the host limits the size of stored content.
const maxArgumentBytes = 16 << 20

// maxNameBytes is the maximum length of an unknown name in a message. Longer names are truncated.
const maxNameBytes = 64

// memoryAPI creates the guest's globals whose functions are operations of the host, such as the
// global "memory".
type memoryAPI struct {
	*realm
	errors     *errorMapper
	operations abi.Table
	host       func(context.Context, abi.Call) (json.RawMessage, error) // nil if the run has no memory operations
	external   externalCalls
}

// object creates a module's global. The global is an object with a function for each operation.
func (m *memoryAPI) object(module string) goja.Value {
	names := make([]string, 0, len(m.operations))
	members := make(map[string]func() goja.Value, len(m.operations))
	for i := range m.operations {
		op := &m.operations[i]
		if op.ModuleName() != module {
			continue
		}
		name := op.Function()
		names = append(names, name)
		members[name] = func() goja.Value { return m.method(op) }
	}
	return m.guestObject(names, members)
}

// method returns the guest function for an operation.
func (m *memoryAPI) method(op *abi.Operation) goja.Value {
	function := m.native(op.Function(), m.operation(op))
	_ = function.DefineDataProperty("length", m.vm.ToValue(len(op.Params)), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return function
}

// operation returns the native function for an operation. Like an async function, the native
// function returns a promise. But the promise is already settled, because the native function
// performs the operation during the call. A native function costs less than an async function of
// the prelude.
func (m *memoryAPI) operation(op *abi.Operation) nativeFunc {
	if op.External && m.external.begin != nil {
		return m.externalOperation(op)
	}
	return func(call goja.FunctionCall) goja.Value {
		promise, resolve, reject := m.vm.NewPromise()
		var reply goja.Value
		settle := resolve
		if thrown := m.vm.Try(func() { reply = m.callHost(op, m.arrange(op, call.Arguments)) }); thrown != nil {
			settle, reply = reject, thrown.Value()
		}
		if err := settle(reply); err != nil {
			panic(err) // the run has been stopped
		}
		return m.vm.ToValue(promise)
	}
}

// arrange sorts the arguments of a call into the order of the operation's parameters. A call can
// pass positional arguments or one object with named arguments. arrange does the same as arrange in
// the prelude's memory.js. Unlike that function, arrange uses no names that a guest can change.
func (m *memoryAPI) arrange(op *abi.Operation, args []goja.Value) []goja.Value {
	if len(args) > len(op.Params) {
		m.refuseCall(op, "takes at most %d arguments, not %d", len(op.Params), len(args))
	}
	if len(args) == 0 {
		return nil
	}
	named, ok := args[0].(*goja.Object)
	if !ok || !m.holdsNames(named) {
		return args
	}
	if len(args) > 1 {
		m.refuseCall(op, "takes either positional arguments or one object of named arguments, not both")
	}
	return m.arrangeNamed(op, named)
}

// holdsNames reports whether an object can contain named arguments. Functions and arrays cannot.
func (m *memoryAPI) holdsNames(o *goja.Object) bool {
	if _, ok := goja.AssertFunction(o); ok {
		return false
	}
	kind, _ := classify(m.realm, o)
	return kind != array
}

func (m *memoryAPI) arrangeNamed(op *abi.Operation, named *goja.Object) []goja.Value {
	args := make([]goja.Value, len(op.Params))
	for _, key := range named.Keys() {
		index := slices.IndexFunc(op.Params, func(p abi.Param) bool { return p.Name == key || slices.Contains(p.Aliases, key) })
		if index < 0 {
			m.refuseCall(op, "has no argument named %s; the names of the arguments are %s", appendQuoted(nil, cut(key, maxNameBytes)), paramNames(op))
		}
		if !isUndefined(args[index]) {
			m.refuseCall(op, "received the argument %s under two names", op.Params[index].Name)
		}
		args[index] = named.Get(key)
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

// refuseCall throws the error for a malformed call.
func (m *memoryAPI) refuseCall(op *abi.Operation, format string, values ...any) {
	f := abi.Faultf(abi.InvalidArgument, format, values...)
	f.Message = cut(op.Name+" "+f.Message, maxMessageBytes)
	f.Op = op.Name
	m.errors.raise(f)
}

// callHost performs a memory operation.
func (m *memoryAPI) callHost(op *abi.Operation, args []goja.Value) goja.Value {
	if m.halted != nil {
		return goja.Undefined()
	}
	request := m.arguments(op, args)
	if m.host == nil {
		m.errors.raise(&abi.Fault{Code: abi.NotFound, Op: op.Name, Message: op.ModuleName() + " is not available in this run"})
	}
	reply, err := m.host(m.ctx, request)
	if err == nil {
		return m.reply(op.Name, reply)
	}
	if fault, ok := err.(*abi.Fault); ok {
		m.errors.raise(fault)
	}
	m.halt(err)
	return goja.Undefined()
}

// arguments encodes the arguments of a call as JSON.
func (m *memoryAPI) arguments(op *abi.Operation, values []goja.Value) abi.Call {
	call := abi.Call{Op: op.Name, Args: make([]json.RawMessage, 0, len(values))}
	for i, value := range values {
		name := op.Params[i].Name
		text, refused := encodeJSON(m.realm, name, value, bounds{nesting: m.limits.ValueNesting, bytes: maxArgumentBytes, strict: &op.Params[i]})
		if refused != nil {
			m.errors.raise(argumentFault(op.Name, refused))
		}
		call.Args = append(call.Args, json.RawMessage(text))
	}
	return call
}

func argumentFault(op string, refused *encodeError) *abi.Fault {
	code := abi.InvalidArgument
	if refused.kind != notJSON {
		code = abi.TooLarge
	}
	f := abi.Faultf(code, "%s: %v", op, refused)
	f.Op, f.Hint = op, refused.hint
	return f
}

func (m *memoryAPI) reply(op string, text json.RawMessage) goja.Value {
	if len(text) == 0 {
		m.errors.readNone = true
		return goja.Null()
	}
	value, err := parseJSON(m.realm, text)
	if err != nil {
		f := abi.Faultf(abi.TooLarge, "%s: cannot decode the reply: %v", op, err)
		f.Op = op
		m.errors.raise(f)
	}
	m.errors.readNone = m.errors.readNone || goja.IsNull(value)
	return value
}
