package wasm_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/abitest"
	"github.com/toolrun/toolrun/abi/conformance"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// abiFunctions contains the name and the number of arguments of each ABI function.
var abiFunctions = []struct {
	name   string
	params int
}{
	{"toolrun.input_len", 0}, {"toolrun.input_read", 3}, {"toolrun.context_len", 0}, {"toolrun.context_read", 3},
	{"toolrun.result_len", 0}, {"toolrun.result_read", 3}, {"toolrun.output_write", 2}, {"toolrun.context_write", 2},
	{"toolrun.error_write", 2}, {"toolrun.log", 3},
	{"memory.get_content", 6}, {"memory.set_content", 6}, {"memory.delete_content", 4},
	{"memory.get_fact", 4}, {"memory.set_fact", 6}, {"memory.delete_fact", 4}, {"memory.list_facts", 8},
	{"memory.get_block", 4}, {"memory.update_block", 6}, {"memory.delete_block", 4}, {"memory.recall", 6},
	{"memory.remember", 6}, {"memory.forget", 4},
}

// callsOf builds a plug-in from fuzz input. The plug-in makes host calls. One byte of the input
// selects the function of a call, and two bytes determine each argument. The remaining bytes of the
// input become the plug-in's memory.
func callsOf(program []byte, exit int32) []byte {
	m := &wasmtest.Module{Pages: 1}
	for _, f := range abiFunctions {
		m.Import(f.name, f.params)
	}
	var code []byte
	for range 20 {
		if len(program) == 0 {
			break
		}
		at := int(program[0]) % len(abiFunctions)
		program = program[1:]
		args := make([]int32, abiFunctions[at].params)
		if len(program) < 2*len(args) {
			break
		}
		for i := range args {
			// The conversion extends the sign. As an address, an argument is therefore near the
			// beginning or near the end of the address space.
			args[i] = int32(int16(binary.LittleEndian.Uint16(program[2*i:])))
		}
		program = program[2*len(args):]
		code = append(append(code, wasmtest.Call(uint32(at), args...)...), wasmtest.Drop)
	}
	m.Data(16, string(program))
	m.Func("toolrun_abi_1", 0)
	m.Func("toolrun_run", 1, append(code, wasmtest.Const(exit)...)...)
	return m.Bytes()
}

// FuzzABI runs plug-ins that make arbitrary calls with arbitrary arguments. The engine must not
// panic, and the host must receive only well-formed calls. The result of the run must be a JSON
// output or a fault.
func FuzzABI(f *testing.F) {
	for _, text := range []string{`{"message":"m","id":"1"}`, `[1,2]`, `prefs`, "\xff{"} {
		for at := range abiFunctions {
			call := []byte{byte(at)}
			for range abiFunctions[at].params {
				call = binary.LittleEndian.AppendUint16(call, 16)
			}
			f.Add(append(append(call, call...), text...), int32(at%2))
		}
	}
	e := wasm.New(wasm.WithPanicLog(func(value any, stack []byte) { f.Errorf("panic: %v\n%s", value, stack) }))
	f.Fuzz(func(t *testing.T, program []byte, exit int32) {
		p, err := e.Load(t.Context(), engine.Source{Path: "p.wasm", Code: callsOf(program, exit)})
		if err != nil {
			t.Fatalf("Load = %v", err)
		}
		defer p.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		out, err := p.Run(ctx, engine.Input{Input: json.RawMessage(`{"a":1}`)}, checkedHost(t))
		if fault, ok := err.(*abi.Fault); err != nil && (!ok || fault.Code == abi.Internal) {
			t.Fatalf("Run = %v", err)
		}
		if err == nil && strictjson.Check(out.Output, strictjson.Limits{}) != nil {
			t.Errorf("output = %q", out.Output)
		}
	})
}

// checkedHost returns a host for memory calls. The host checks the arguments of each call.
func checkedHost(t *testing.T) engine.Host {
	memory := &conformance.Double{Operations: abi.Operations()}
	return engine.Host{
		Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
			op, ok := abi.Operations().Lookup(call.Op)
			if !ok || len(call.Args) > len(op.Params) {
				t.Errorf("call = %v", call)
			}
			if store := call.Arg(0); ok && op.Params[0].Kind == abi.StoreName && store != nil && strictjson.Check(store, strictjson.Limits{}) != nil {
				t.Errorf("store = %q", store)
			}
			reply, fault := memory.Call(call)
			if fault != nil {
				return nil, fault
			}
			return reply, nil
		},
		Log: func(level abi.Level, text string) error {
			if level == "" {
				t.Errorf("a line %q without a level", text)
			}
			return nil
		},
	}
}

// TestVectorsAreInTheCorpus checks that abiFunctions contains every function that occurs in the ABI
// test vectors.
func TestVectorsAreInTheCorpus(t *testing.T) {
	known := map[string]int{}
	for _, f := range abiFunctions {
		known[f.name] = f.params
	}
	for _, v := range abitest.Vectors() {
		for _, s := range v.Steps {
			if params, ok := known[s.Function]; !ok || params != len(s.Args) {
				t.Errorf("FuzzABI does not call %s with %d arguments", s.Function, len(s.Args))
			}
		}
	}
}
