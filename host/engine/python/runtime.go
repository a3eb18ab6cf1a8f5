package python

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// startExport is the only export of the interpreter that the engine needs.
const startExport = "_start"

// rewrite checks and rewrites the interpreter's module before the compilation. The rewritten module
// checks the stack limit, and its instances can be stopped and restored.
func rewrite(code []byte) (machine.Code, error) {
	parsed, err := binary.Parse(code, binary.Limits{})
	if err != nil {
		return machine.Code{}, unusable("%v", err)
	}
	if err := inspect(parsed); err != nil {
		return machine.Code{}, err
	}
	rewritten, err := machine.Rewrite(parsed, machine.RewriteOptions{StackGuard: true})
	if err == nil && rewritten.Restorable == nil {
		err = &machine.ModuleError{Err: rewritten.NotRestorable}
	}
	return rewritten, compileError(err)
}

// compileError turns an error about the interpreter's module into a fault.
func compileError(err error) error {
	if wrong, ok := errors.AsType[*machine.ModuleError](err); ok {
		return unusable("%v", wrong)
	}
	return err
}

// inspect checks that a module is a WASI command and that the module imports only WASI functions.
func inspect(m *binary.Module) error {
	if _, ok := m.Export(startExport); !ok {
		return unusable("the module does not export %s", startExport)
	}
	for _, i := range m.Imports {
		if i.Module != wasi.ModuleName || i.Kind != binary.ExternFunc || !wasi.Known(i.Name) {
			return unusable("the module imports %.100q; only WASI preview 1 is available", i.Module+"."+i.Name)
		}
	}
	return nil
}

// unusable returns the fault for a file that is not a usable interpreter.
func unusable(format string, args ...any) error {
	return abi.Faultf(abi.SourceInvalid, "the Python runtime is not CPython for WASI: "+format, args...).WithHint(hintRuntime)
}

// provide instantiates the host module that the interpreter imports.
func provide(ctx context.Context, runtime wazero.Runtime, _ wazero.CompiledModule) error {
	return wasi.Instantiate(ctx, runtime)
}
