package wasi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// ModuleName is the name that guests import the functions from.
const ModuleName = "wasi_snapshot_preview1"

// Instantiate creates the host module in a runtime, once for all of its guests. Closing the runtime
// closes the module. It returns an error if the runtime has a module of that name or is closed.
func Instantiate(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(ModuleName)
	for _, f := range functions {
		b.NewFunctionBuilder().WithGoModuleFunction(f.handler, f.params, f.results()).WithName(f.name).Export(f.name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("instantiate %s: %w", ModuleName, err)
	}
	return nil
}

// key is the context key of the System of a run. wazero does not pass other data to host functions.
type key struct{}

// With returns a context for calls of a guest that uses s. Each run needs its own System.
func With(ctx context.Context, s *System) context.Context {
	return context.WithValue(ctx, key{}, s)
}

var errNoSystem = errors.New("wasi: the guest was called without a System in its context")

// handler implements a function. Its parameters are those of the WASM signature, in their order. If
// it returns an error, it has not changed the memory, except if a random source fails partway.
type handler func(ctx context.Context, s *System, mem memory, params []uint64) errno

var _ api.GoModuleFunction = handler(nil)

// Call implements api.GoModuleFunction. The first element of the stack receives the result. It
// exists for proc_exit, too, which has a parameter but no result.
func (h handler) Call(ctx context.Context, mod api.Module, stack []uint64) {
	s, ok := ctx.Value(key{}).(*System)
	if !ok {
		panic(errNoSystem) // wazero returns it as the error of the guest's call
	}
	stack[0] = uint64(h(ctx, s, memoryOf(mod), stack))
}

// results returns the result types: the error number for every function except proc_exit.
func (f function) results() []api.ValueType {
	if f.name == procExitName {
		return nil
	}
	return []api.ValueType{i32}
}

// Known reports whether preview 1 has a function of that name. All of its functions can be
// imported.
func Known(name string) bool {
	_, _, ok := Signature(name)
	return ok
}

// Signature returns the parameter and result types of a function. It returns false if preview 1 has
// no function of that name. The caller may modify the slices.
func Signature(name string) (params, results []api.ValueType, ok bool) {
	for _, f := range functions {
		if f.name == name {
			return slices.Clone(f.params), f.results(), true
		}
	}
	return nil, nil, false
}
