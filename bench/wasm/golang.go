package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/bench/measure"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/wasm"
)

// These cases run a plug-in that the Go compiler has built. The plug-in reads a record, increments
// a number in the record, and writes the record.
const (
	goBare = "a Go plug-in, bare wazero, fresh"
	goRun  = "a Go plug-in, a run, from its snapshot"
	goGet  = "a Go plug-in, a run with one get and one set"
)

// compiledByGo builds the plug-in and measures it.
func compiledByGo(dir string) ([]*measure.Case, func() error, error) {
	code, err := buildPlugin(dir, "counter")
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	program, err := wasm.New().Load(ctx, engine.Source{Path: "counter.wasm", Code: code})
	if err != nil {
		return nil, nil, err
	}
	bare, closeBare, err := goInWazero(ctx, code)
	if err != nil {
		return nil, nil, err
	}
	return []*measure.Case{
		{Name: goBare, Workers: 1, Call: bare},
		{Name: goRun, Workers: 1, Call: runGo(program, `{"calls":false}`, `0`)},
		{Name: goGet, Workers: 1, Call: runGo(program, `{"calls":true}`, `8`)},
	}, func() error { return errors.Join(program.Close(), closeBare()) }, nil
}

func runGo(p engine.Program, input, want string) func(int, int) error {
	host := engine.Host{Call: func(_ context.Context, call abi.Call) (json.RawMessage, error) {
		if call.Op == abi.GetContent {
			return json.RawMessage(`{"n":7}`), nil
		}
		return json.RawMessage(`{"success":true}`), nil
	}}
	return func(int, int) error {
		out, err := p.Run(context.Background(), engine.Input{Input: json.RawMessage(input)}, host)
		if err == nil && string(out.Output) != want {
			err = fmt.Errorf("the plug-in returned %s", out.Output)
		}
		return err
	}
}

// goInWazero initializes a fresh instance for each call. The instance uses wazero's own WASI, and
// host functions that return nothing.
func goInWazero(ctx context.Context, code []byte) (call func(int, int) error, end func() error, err error) {
	r := wazero.NewRuntime(ctx)
	compiled, err := r.CompileModule(ctx, code)
	if err != nil {
		return nil, nil, err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, nil, err
	}
	modules := map[string]wazero.HostModuleBuilder{}
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if module == wasi_snapshot_preview1.ModuleName {
			continue
		}
		if modules[module] == nil {
			modules[module] = r.NewHostModuleBuilder(module)
		}
		modules[module].NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, stack []uint64) {
			switch name {
			case "input_len":
				stack[0] = 2
			case "input_read":
				m.Memory().Write(uint32(stack[0]), []byte("{}"))
				stack[0] = 2
			default:
				stack[0] = 0
			}
		}), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for _, m := range modules {
		if _, err := m.Instantiate(ctx); err != nil {
			return nil, nil, err
		}
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithSysWalltime().WithSysNanotime()
	return func(int, int) error {
		m, err := r.InstantiateModule(ctx, compiled, config)
		if err != nil {
			return err
		}
		answer, err := m.ExportedFunction("toolrun_run").Call(ctx)
		if err == nil && answer[0] != 0 {
			err = fmt.Errorf("the plug-in failed with %d", answer[0])
		}
		return errors.Join(err, m.Close(ctx))
	}, func() error { return r.Close(ctx) }, nil
}
