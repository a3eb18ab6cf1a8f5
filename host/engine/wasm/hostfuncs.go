package wasm

import (
	"context"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/abi"
)

// runModule is the name of the module from which plug-ins import the functions for input, output
// and logs.
const runModule = "toolrun"

// The maximum size of an error and the maximum size of a log line. The limits bound the memory that
// such texts use. Longer texts would not be useful.
const (
	maxErrorBytes = 64 << 10
	maxLogBytes   = 8 << 10
	maxEarlyLines = 100
)

var (
	badPointer = fault(abi.InvalidArgument)
	levels     = []abi.Level{abi.LevelDebug, abi.LevelInfo, abi.LevelWarn, abi.LevelError}
)

// fault returns the result of a host function that fails. The result contains the code of the
// failure.
func fault(code abi.Code) int32 { return -int32(code.Number()) }

// function is a host function that a guest can import. All parameters and the result of the
// function have type i32.
type function struct {
	name   string
	params int
	call   func(r *run, memory api.Memory, args []uint32) int32
}

// runFunctions contains the host functions of the module "toolrun".
var runFunctions = []function{
	{"input_len", 0, func(r *run, _ api.Memory, _ []uint32) int32 { return int32(len(r.input)) }},
	{"input_read", 3, reading(func(r *run) []byte { return r.input })},
	{"context_len", 0, func(r *run, _ api.Memory, _ []uint32) int32 { return int32(len(r.context)) }},
	{"context_read", 3, reading(func(r *run) []byte { return r.context })},
	{"result_len", 0, func(r *run, _ api.Memory, _ []uint32) int32 { return int32(len(r.reply)) }},
	{"result_read", 3, reading(func(r *run) []byte { return r.reply })},
	{"output_write", 2, writing(func(r *run) (*[]byte, int) { return &r.output, r.limits.OutputBytes })},
	{"context_write", 2, writing(func(r *run) (*[]byte, int) { return &r.changes, r.limits.OutputBytes })},
	{"error_write", 2, writing(func(r *run) (*[]byte, int) { return &r.failure, maxErrorBytes })},
	{"log", 3, func(r *run, memory api.Memory, args []uint32) int32 {
		text, ok := memory.Read(args[1], args[2])
		if !ok || args[0] >= uint32(len(levels)) {
			return badPointer
		}
		r.log(levels[args[0]], text)
		return 0
	}},
}

// reading returns a host function with the parameters ptr, off and len. The host function copies a
// range of a document to the guest.
func reading(document func(*run) []byte) func(*run, api.Memory, []uint32) int32 {
	return func(r *run, memory api.Memory, args []uint32) int32 {
		ptr, off, length := args[0], args[1], args[2]
		rest := document(r)
		rest = rest[min(uint64(off), uint64(len(rest))):]
		rest = rest[:min(uint64(length), uint64(len(rest)))]
		// The whole buffer must be within the memory, even if the document does not fill the
		// buffer.
		if uint64(ptr)+uint64(length) > uint64(memory.Size()) || !memory.Write(ptr, rest) {
			return badPointer
		}
		return int32(len(rest))
	}
}

// writing returns a host function with the parameters ptr and len. The host function stores a copy
// of data from the guest.
func writing(target func(*run) (into *[]byte, limit int)) func(*run, api.Memory, []uint32) int32 {
	return func(r *run, memory api.Memory, args []uint32) int32 {
		text, ok := memory.Read(args[0], args[1])
		if !ok {
			return badPointer
		}
		into, limit := target(r)
		if len(text) > limit {
			r.tooLarge = r.tooLarge || into != &r.failure
			return fault(abi.OutputLimit)
		}
		if into != &r.failure {
			r.tooLarge = false
		}
		*into = append((*into)[:0:0], text...)
		return 0
	}
}

func (r *run) log(level abi.Level, text []byte) {
	if err := r.note(level, text); err != nil {
		r.halt(err)
	}
}

// note sends a log line to the host. A guest can also log lines while it is initialized. One
// initialization can serve many runs, so the method only buffers these lines. If the initialization
// fails, the host receives the buffered lines.
func (r *run) note(level abi.Level, text []byte) error {
	if !r.started {
		if len(r.early) < maxEarlyLines {
			r.early = append(r.early, abi.LogLine{Level: level, Text: cut(text, maxLogBytes)})
		}
		return nil
	}
	if r.host.Log == nil {
		return nil
	}
	return r.host.Log(level, cut(text, maxLogBytes))
}

// cut converts data from the guest to a valid UTF-8 string. If the data has more than limit bytes,
// the function truncates the data and appends an ellipsis.
func cut(text []byte, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text[:limit]), "") + "…"
}

// export adds functions to a host module.
func export(module wazero.HostModuleBuilder, functions []function) wazero.HostModuleBuilder {
	for _, f := range functions {
		params := make([]api.ValueType, f.params)
		for i := range params {
			params[i] = api.ValueTypeI32
		}
		module = module.NewFunctionBuilder().WithGoModuleFunction(f.goFunction(), params, []api.ValueType{api.ValueTypeI32}).Export(f.name)
	}
	return module
}

func (f function) goFunction() api.GoModuleFunc {
	return func(ctx context.Context, module api.Module, stack []uint64) {
		var args [maxParams]uint32
		for i := range f.params {
			args[i] = uint32(stack[i])
		}
		r := runOf(ctx)
		r.checkEnd() // the guest executes only one instruction, but the call can take long
		stack[0] = uint64(uint32(f.call(r, module.Memory(), args[:f.params])))
	}
}
