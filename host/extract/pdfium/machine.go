package pdfium

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// fuelModule is the import module of the function that rewritten code yields by.
const fuelModule = "toolrun:fuel"

// machine is a runtime with the compiled library.
type machine struct {
	runtime wazero.Runtime
	module  *snapshot.Module
	code    wazero.CompiledModule
	files   wazero.CompilationCache
}

// rewrite makes of the library what is compiled: a module that can be stopped and restored.
func rewrite(code []byte) (*snapshot.Module, error) {
	parsed, err := binary.Parse(code, binary.Limits{})
	if err != nil {
		return nil, err
	}
	if code, err = fuel.Rewrite(parsed, fuel.Options{Module: fuelModule}); err != nil {
		return nil, err
	}
	if parsed, err = binary.Parse(code, fuel.Limits(binary.Limits{})); err != nil {
		return nil, err
	}
	return snapshot.Rewrite(parsed)
}

// compileWith compiles in a new runtime, which owns files from then on.
func compileWith(ctx context.Context, files wazero.CompilationCache, module *snapshot.Module) (*machine, error) {
	m := &machine{
		runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(files)),
		module:  module,
		files:   files,
	}
	var err error
	if m.code, err = m.runtime.CompileModule(ctx, module.Binary); err == nil {
		err = m.provide(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pdfium: compile the library: %w", err), m.close())
	}
	return m, nil
}

// provide makes the modules that the library imports.
func (m *machine) provide(ctx context.Context) error {
	_, err := m.runtime.NewHostModuleBuilder(fuelModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(refuel), []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export("yield").Instantiate(ctx)
	if err != nil {
		return err
	}
	return errors.Join(provide(ctx, m.runtime, m.code, envModule), provide(ctx, m.runtime, m.code, wasiModule))
}

func (m *machine) close() error {
	ctx := context.Background()
	return errors.Join(m.runtime.Close(ctx), m.files.Close(ctx))
}
