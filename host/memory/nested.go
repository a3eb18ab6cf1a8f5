package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/txn"
)

// Nested executes the function "body" under a given Authority. The execution is a part of the
// attempt. If the function "body" fails, Nested returns its error and undoes its writes. The
// attempt's read set still contains the reads of the function.
//
// The argument ctx must be the context of the attempt. The function "body" can have its own context
// with an earlier deadline. If only the context of the function "body" ends, only the writes of the
// function are undone. The attempt fails if ctx ends, or if other transactions have changed records
// that the attempt read. Every later call of the View then fails too.
//
// Nested returns the fault call_limit if the attempt exceeds txn.MaxNested calls of Nested or
// txn.MaxDepth levels of nesting.
func (v *View) Nested(ctx context.Context, a Authority, body func(context.Context) error) error {
	if v.closed != nil {
		return v.closed
	}
	err := v.tx.Nested(ctx, func(ctx context.Context, _ *txn.Tx) error {
		own := v.authority
		v.authority = a
		defer func() { v.authority = own }() // also after a panic
		return body(ctx)
	})
	switch {
	case errors.Is(err, txn.ErrNestedLimit):
		return abi.Faultf(abi.CallLimit, "the turn exceeded the limit of %d runs of tools and hooks, or of %d levels of nesting", txn.MaxNested, txn.MaxDepth).
			WithHint("run fewer tools and hooks in a turn: wait for input between them; this limit is fixed")
	case errors.Is(err, txn.ErrConflict) || ctx.Err() != nil:
		v.closed = err
	default:
		v.closed = nil // only the context of the function "body" has ended
	}
	return err
}
