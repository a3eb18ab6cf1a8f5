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

// Instantiate makes the host module in a runtime, once for all the guests of it. It is closed with the
// runtime. An error means that the runtime has a module of that name, or is closed.
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

// key is where the System of a run is in its context. A host function has no argument that could carry it.
type key struct{}

// With returns a context for calls of a guest: its operating system is s. Each run needs a System of its own.
func With(ctx context.Context, s *System) context.Context {
	return context.WithValue(ctx, key{}, s)
}

var errNoSystem = errors.New("wasi: the guest was called without a System in its context")

// A handler performs a function. The parameters are those of the WASM signature, in their order. One that
// answers an error has changed nothing, but for a source of randomness that fails half way.
type handler func(ctx context.Context, s *System, mem memory, params []uint64) errno

var _ api.GoModuleFunction = handler(nil)

// Call makes a handler the host function that wazero calls. The first element of the stack takes the result;
// it is there also for proc_exit, which has none but a parameter.
func (h handler) Call(ctx context.Context, mod api.Module, stack []uint64) {
	s, ok := ctx.Value(key{}).(*System)
	if !ok {
		panic(errNoSystem) // wazero makes it the error of the guest's call
	}
	stack[0] = uint64(h(ctx, s, memoryOf(mod), stack))
}

// results are those of every function but proc_exit: the error number.
func (f function) results() []api.ValueType {
	if f.name == procExitName {
		return nil
	}
	return []api.ValueType{i32}
}

// Known reports whether preview 1 has a function of that name. All that it has can be imported.
func Known(name string) bool {
	_, _, ok := Signature(name)
	return ok
}

// Signature returns the parameters and results that an import of a function must have; false for a name that
// preview 1 does not have. The slices are the caller's.
func Signature(name string) (params, results []api.ValueType, ok bool) {
	for _, f := range functions {
		if f.name == name {
			return slices.Clone(f.params), f.results(), true
		}
	}
	return nil, nil, false
}
