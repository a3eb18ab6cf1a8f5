package wasi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// ModuleName is the name of the module from which guests import the functions.
const ModuleName = "wasi_snapshot_preview1"

// Instantiate creates the host module once for all guests of a runtime. Closing the runtime closes
// the module. Instantiate returns an error if the runtime is closed or already has a module with
// this name.
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

// key is the context key for the System of a run. wazero offers no other way to pass the System to
// host functions.
type key struct{}

// With returns a context for calls to a guest whose System is s. Each run needs its own System.
func With(ctx context.Context, s *System) context.Context {
	return context.WithValue(ctx, key{}, s)
}

var errNoSystem = errors.New("wasi: the guest was called without a System in its context")

// handler implements a function. The handler receives the parameters of the function's WebAssembly
// signature. If the handler returns an error, it has not changed the memory. An exception is a
// random source that fails after some bytes.
type handler func(ctx context.Context, s *System, mem memory, params []uint64) errno

var _ api.GoModuleFunction = handler(nil)

// Call implements api.GoModuleFunction. The first element of the stack receives the result. The
// stack has an element even for proc_exit, which has a parameter but no result.
func (h handler) Call(ctx context.Context, mod api.Module, stack []uint64) {
	s, ok := ctx.Value(key{}).(*System)
	if !ok {
		panic(errNoSystem) // wazero returns this panic value as the error of the guest's call
	}
	stack[0] = uint64(h(ctx, s, memoryOf(mod), stack))
}

// results returns the result types. Every function except proc_exit returns an error number.
func (f function) results() []api.ValueType {
	if f.name == procExitName {
		return nil
	}
	return []api.ValueType{i32}
}

// Known reports whether preview 1 has a function with the given name. Guests can import all
// functions of preview 1.
func Known(name string) bool {
	_, _, ok := Signature(name)
	return ok
}

// Signature returns the parameter and result types of a function. If preview 1 has no function with
// the given name, ok is false. The caller may modify the returned slices.
func Signature(name string) (params, results []api.ValueType, ok bool) {
	for _, f := range functions {
		if f.name == name {
			return slices.Clone(f.params), f.results(), true
		}
	}
	return nil, nil, false
}
