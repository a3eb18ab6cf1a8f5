package python

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/stackguard"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// fuelModule is the import module of the function that rewritten code yields by.
const fuelModule = "toolrun:fuel"

// The exports of the interpreter that the engine needs.
const startExport = "_start"

// machine is a runtime with the compiled interpreter.
type machine struct {
	runtime wazero.Runtime
	module  *snapshot.Module
	code    wazero.CompiledModule
	files   wazero.CompilationCache
}

// rewrite checks the interpreter and makes of it what is compiled: a module whose stack is guarded, and which can be
// stopped and restored.
func rewrite(code []byte) (*snapshot.Module, error) {
	parsed, err := binary.Parse(code, binary.Limits{})
	if err != nil {
		return nil, unusable("%v", err)
	}
	if err := inspect(parsed); err != nil {
		return nil, err
	}
	if code, err = stackguard.Rewrite(parsed); err != nil {
		return nil, unusable("%v", err)
	}
	guarded := stackguard.Limits(binary.Limits{})
	if parsed, err = binary.Parse(code, guarded); err != nil {
		return nil, fmt.Errorf("python: read what was rewritten: %w", err)
	}
	if code, err = fuel.Rewrite(parsed, fuel.Options{Module: fuelModule}); err != nil {
		return nil, unusable("%v", err)
	}
	if parsed, err = binary.Parse(code, fuel.Limits(guarded)); err != nil {
		return nil, fmt.Errorf("python: read what was rewritten: %w", err)
	}
	module, err := snapshot.Rewrite(parsed)
	if err != nil {
		return nil, unusable("%v", err)
	}
	return module, nil
}

// inspect checks that a module is a command for WASI and asks for nothing else.
func inspect(m *binary.Module) error {
	if _, ok := m.Export(startExport); !ok {
		return unusable("it does not export %s", startExport)
	}
	for _, i := range m.Imports {
		if i.Module != wasi.ModuleName || i.Kind != binary.ExternFunc || !wasi.Known(i.Name) {
			return unusable("it imports %.100q, and gets WASI preview 1 alone", i.Module+"."+i.Name)
		}
	}
	return nil
}

// unusable is the fault of a file that is no interpreter.
func unusable(format string, args ...any) error {
	return abi.Faultf(abi.SourceInvalid, "the Python runtime is not CPython for WASI: "+format, args...).WithHint(hintRuntime)
}

// compileWith compiles in a new runtime, which owns files from then on.
func compileWith(ctx context.Context, files wazero.CompilationCache, module *snapshot.Module) (*machine, error) {
	m := &machine{
		runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(files)),
		module:  module,
		files:   files,
	}
	var err error
	if m.code, err = m.runtime.CompileModule(ctx, module.Binary); err != nil {
		return nil, errors.Join(unusable("%v", err), m.close())
	}
	if err = m.provide(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("python: make what the interpreter imports: %w", err), m.close())
	}
	return m, nil
}

// provide makes the modules that the interpreter imports.
func (m *machine) provide(ctx context.Context) error {
	_, err := m.runtime.NewHostModuleBuilder(fuelModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(refuel), []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export("yield").Instantiate(ctx)
	if err != nil {
		return err
	}
	return wasi.Instantiate(ctx, m.runtime)
}

func (m *machine) close() error {
	ctx := context.Background()
	return errors.Join(m.runtime.Close(ctx), m.files.Close(ctx))
}
