package machine

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// fuelModule is the import module of the function that rewritten code calls to yield. Guest modules
// must not import fuelModule themselves.
const fuelModule = "toolrun:fuel"

// Slice is the amount of fuel that a guest spends between two calls to Guest.Yield. A guest needs
// about a millisecond to spend a Slice.
const Slice = fuel.Slice

// ErrStopped is the panic value with which a host function stops a guest. No instruction of a guest
// can catch ErrStopped.
var ErrStopped = errors.New("the host ended the guest")

// Guest is the host's side of an execution. The methods of a Guest are called by the goroutine that
// calls the guest.
type Guest interface {
	// Yield is called after the guest has spent a slice of fuel. Yield returns true if the guest
	// may continue. Yield returns false if the context of the execution has ended or a limit is
	// exceeded. If Yield returns false, it must store the reason, because the error of the call
	// does not contain the reason.
	Yield() bool
}

type guestKey struct{}

// With returns a context for calls to a guest. Host functions find the Guest g in this context.
func With(ctx context.Context, g Guest) context.Context {
	return context.WithValue(ctx, guestKey{}, g)
}

// GuestOf returns the Guest that With added to the context of a host function.
func GuestOf[G Guest](ctx context.Context) G { return ctx.Value(guestKey{}).(G) }

// provideFuel instantiates the function that rewritten code calls after each slice.
func provideFuel(ctx context.Context, runtime wazero.Runtime) error {
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := runtime.NewHostModuleBuilder(fuelModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(yield), i64, i64).Export("yield").Instantiate(ctx)
	return err
}

// yield lets Go's garbage collector run and ends executions that must not continue.
func yield(ctx context.Context, stack []uint64) {
	if !GuestOf[Guest](ctx).Yield() {
		panic(ErrStopped)
	}
	stack[0] = Slice
}
