package wasm

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/abi"
)

// maxArgumentBytes is the maximum size of one argument of a memory call. The maximum is the same in
// all engines. The host has another limit for the size of stored data.
const maxArgumentBytes = 16 << 20

// maxParams is the maximum number of i32 parameters of a host function. Each parameter of an
// operation needs two i32 parameters: a pointer and a length.
const maxParams = 2 * abi.MaxParams

// operationModules returns the names of the modules from which plug-ins import operations. The
// result always contains the module of the memory operations.
func operationModules(table abi.Table) []string {
	modules := table.Modules()
	if !slices.Contains(modules, abi.MemoryModule) {
		modules = append([]string{abi.MemoryModule}, modules...)
	}
	return modules
}

// operationFunctions returns the host functions of a module. There is a host function for each
// operation of the module in the table.
func operationFunctions(table abi.Table, module string) []function {
	own := table.Of(module)
	functions := make([]function, len(own))
	for i := range own {
		op := &own[i]
		functions[i] = function{op.Function(), 2 * len(op.Params), func(r *run, memory api.Memory, args []uint32) int32 {
			return r.perform(op, memory, args)
		}}
	}
	return functions
}

// perform performs an operation and stores the reply.
func (r *run) perform(op *abi.Operation, memory api.Memory, args []uint32) int32 {
	r.reply = nil
	var call abi.Call
	var refused *abi.Fault
	if r.started {
		call, refused = arguments(op, memory, args)
	}
	switch {
	case refused != nil:
	case !r.started:
		refused = abi.Faultf(abi.InvalidArgument, "%s: the module %s is not available while a plug-in initializes", op.Name, op.ModuleName()).
			WithHint("move the call into the entry function; several runs can share one initialization")
	case r.host.Call == nil:
		refused = abi.Faultf(abi.NotFound, "the module %s is not available in this run", op.ModuleName())
	default:
		reply, err := r.host.Call(r.ctx, call)
		if err == nil {
			r.reply = reply
			return int32(len(reply))
		}
		f, ok := err.(*abi.Fault)
		if !ok {
			r.halt(err)
		}
		refused = f
	}
	return r.raise(op, refused)
}

// raise reports a fault to the guest.
func (r *run) raise(op *abi.Operation, f *abi.Fault) int32 {
	if f.Op == "" {
		named := *f
		named.Op = op.Name
		f = &named
	}
	if f.ID != "" {
		if r.issued == nil {
			r.issued = map[string]*abi.Fault{}
		}
		r.issued[f.ID] = f
	}
	reply, err := json.Marshal(f)
	if err != nil {
		r.halt(abi.Faultf(abi.Internal, "encode a fault: %v", err))
	}
	r.reply = reply
	return fault(f.Code)
}

// arguments copies the arguments of a call from the guest's memory. Before the method copies the
// first argument, it checks all arguments.
func arguments(op *abi.Operation, memory api.Memory, args []uint32) (abi.Call, *abi.Fault) {
	call := abi.Call{Op: op.Name, Args: make([]json.RawMessage, len(op.Params))}
	var texts [maxParams / 2][]byte
	for i, param := range op.Params {
		length := args[2*i+1]
		text, ok := memory.Read(args[2*i], length)
		if length > 0 && !ok {
			return call, refuse(op, abi.InvalidArgument, "the %s is outside the guest's memory", param.Name)
		}
		if length > maxArgumentBytes {
			return call, refuse(op, abi.TooLarge, "the %s has %d bytes; the limit is %d", param.Name, length, maxArgumentBytes)
		}
		texts[i] = text
	}
	for i, param := range op.Params {
		if args[2*i+1] == 0 {
			continue
		}
		if !utf8.Valid(texts[i]) {
			return call, refuse(op, abi.InvalidArgument, "the %s is not valid UTF-8", param.Name)
		}
		call.Args[i] = argument(param, texts[i])
	}
	return call, nil
}

func argument(param abi.Param, text []byte) json.RawMessage {
	if param.Kind == abi.StoreName {
		quoted, _ := json.Marshal(string(text)) // a string can always be encoded as JSON
		return quoted
	}
	return append(json.RawMessage(nil), text...)
}

func refuse(op *abi.Operation, code abi.Code, format string, args ...any) *abi.Fault {
	f := abi.Faultf(code, op.Name+": "+format, args...)
	f.Op = op.Name
	return f
}
