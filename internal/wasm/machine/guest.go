package machine

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// fuelModule is the import module of the function that rewritten code yields by. Modules may not
// import it themselves.
const fuelModule = "toolrun:fuel"

// Slice is the fuel that a guest spends between two calls of Guest.Yield, about a millisecond's.
const Slice = fuel.Slice

// ErrStopped unwinds a guest that the host ends: a host function panics with it. No instruction of
// a guest catches it.
var ErrStopped = errors.New("the host ended the guest")

// Guest is the host's side of one execution. The goroutine that calls the guest calls its methods.
type Guest interface {
	// Yield is called when the guest has spent a slice of fuel. It reports whether the guest may go
	// on: not if the context of the execution has ended or a limit is exceeded. Yield notes the
	// reason, which the error of the call does not contain.
	Yield() bool
}

type guestKey struct{}

// With returns a context for calls of a guest, in which host functions find g.
func With(ctx context.Context, g Guest) context.Context {
	return context.WithValue(ctx, guestKey{}, g)
}

// GuestOf returns what With has put into the context of a host function.
func GuestOf[G Guest](ctx context.Context) G { return ctx.Value(guestKey{}).(G) }

// provideFuel instantiates the function that rewritten code calls after each slice.
func provideFuel(ctx context.Context, runtime wazero.Runtime) error {
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := runtime.NewHostModuleBuilder(fuelModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(yield), i64, i64).Export("yield").Instantiate(ctx)
	return err
}

// yield gives Go's garbage collector a turn, and ends executions that are over.
func yield(ctx context.Context, stack []uint64) {
	if !GuestOf[Guest](ctx).Yield() {
		panic(ErrStopped)
	}
	stack[0] = Slice
}
