package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// These cases run a plug-in of 8 KB that returns its input.
const (
	smallBare   = "8 KB, bare wazero, fresh"
	smallRun    = "8 KB, a run"
	smallExtism = "8 KB, Extism's go-sdk, fresh"
)

const document = `{"a":1,"b":2}`

// ballast is data that makes each module as large as a small tool.
var ballast = strings.Repeat("toolrun ", 1000)

// echo returns the plug-in that uses the ABI of toolrun.
func echo() []byte {
	m := &wasmtest.Module{Pages: 2}
	read, write := m.Import("toolrun.input_read", 3), m.Import("toolrun.output_write", 2)
	m.Data(65536, ballast)
	m.Func("toolrun_abi_1", 0)
	entry := append(wasmtest.Const(1024), wasmtest.Call(read, 1024, 0, 4096)...) // the address and the size of the input
	m.Func("toolrun_run", 1, append(entry, wasmtest.Call(write)...)...)
	return m.Bytes()
}

func small(string) ([]*measure.Case, func() error, error) {
	ctx := context.Background()
	run, closeRun, err := smallInToolrun(ctx)
	if err != nil {
		return nil, nil, err
	}
	bare, closeBare, err := smallInWazero(ctx)
	if err != nil {
		return nil, nil, err
	}
	other, closeOther, err := smallInExtism(ctx)
	if err != nil {
		return nil, nil, err
	}
	return []*measure.Case{
		{Name: smallBare, Workers: 1, Call: bare}, {Name: smallRun, Workers: 1, Call: run}, {Name: smallExtism, Workers: 1, Call: other},
	}, func() error { return errors.Join(closeRun(), closeBare(), closeOther()) }, nil
}

func smallInToolrun(ctx context.Context) (call func(int, int) error, end func() error, err error) {
	p, err := wasm.New().Load(ctx, engine.Source{Path: "echo.wasm", Code: echo()})
	if err != nil {
		return nil, nil, err
	}
	return func(int, int) error {
		out, err := p.Run(ctx, engine.Input{Input: json.RawMessage(document)}, engine.Host{})
		return answered(string(out.Output), err)
	}, p.Close, nil
}

// smallInWazero does the minimum work of a wazero host. For each call, it creates a fresh instance
// with two host functions.
func smallInWazero(ctx context.Context) (call func(int, int) error, end func() error, err error) {
	r := wazero.NewRuntime(ctx)
	var output string
	_, err = r.NewHostModuleBuilder("toolrun").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, stack []uint64) {
		m.Memory().Write(uint32(stack[0]), []byte(document))
		stack[0] = uint64(len(document))
	}), i32s(3), i32s(1)).Export("input_read").
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, stack []uint64) {
		text, _ := m.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		output = string(text)
		stack[0] = 0
	}), i32s(2), i32s(1)).Export("output_write").Instantiate(ctx)
	if err != nil {
		return nil, nil, err
	}
	compiled, err := r.CompileModule(ctx, echo())
	if err != nil {
		return nil, nil, err
	}
	config := wazero.NewModuleConfig().WithName("")
	return func(int, int) error {
		m, err := r.InstantiateModule(ctx, compiled, config)
		if err != nil {
			return err
		}
		_, err = m.ExportedFunction("toolrun_run").Call(ctx)
		return answered(output, errors.Join(err, m.Close(ctx)))
	}, func() error { return r.Close(ctx) }, nil
}

func smallInExtism(ctx context.Context) (call func(int, int) error, end func() error, err error) {
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: extismEcho()}}}
	compiled, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{}, nil)
	if err != nil {
		return nil, nil, err
	}
	return func(int, int) error {
		p, err := compiled.Instance(ctx, extism.PluginInstanceConfig{})
		if err != nil {
			return err
		}
		_, out, err := p.Call("run", []byte(document))
		return answered(string(out), errors.Join(err, p.Close(ctx)))
	}, func() error { return compiled.Close(ctx) }, nil
}

func answered(output string, err error) error {
	if err == nil && output != document {
		err = fmt.Errorf("the plug-in returned %q", output)
	}
	return err
}

func i32s(n int) []api.ValueType {
	types := make([]api.ValueType, n)
	for i := range types {
		types[i] = api.ValueTypeI32
	}
	return types
}

// extismEcho returns the plug-in that uses Extism's ABI. The output of the plug-in is the memory
// block that contains the input.
func extismEcho() []byte {
	const i32, i64, function = 0x7f, 0x7e, 0x60
	imported := func(name string, signature byte) []byte {
		return append(binary.AppendName(binary.AppendName(nil, "extism:host/env"), name), byte(binary.ExternFunc), signature)
	}
	vector := func(entries ...[]byte) []byte { return binary.AppendVector(nil, uint32(len(entries)), entries...) }
	return binary.Join([]binary.Section{
		{ID: binary.TypeSection, Data: vector([]byte{function, 0, 1, i64}, []byte{function, 2, i64, i64, 0}, []byte{function, 0, 1, i32})},
		{ID: binary.ImportSection, Data: vector(imported("input_offset", 0), imported("input_length", 0), imported("output_set", 1))},
		{ID: binary.FunctionSection, Data: vector([]byte{2})},
		{ID: binary.MemorySection, Data: vector([]byte{0, 2})},
		{ID: binary.ExportSection, Data: vector(
			append(binary.AppendName(nil, "memory"), byte(binary.ExternMemory), 0), append(binary.AppendName(nil, "run"), byte(binary.ExternFunc), 3))},
		{ID: binary.CodeSection, Data: vector([]byte{10, 0, 0x10, 0, 0x10, 1, 0x10, 2, 0x41, 0, 0x0b})},
		{ID: binary.DataSection, Data: vector(append([]byte{0, 0x41, 0, 0x0b}, binary.AppendName(nil, ballast)...))},
	})
}
