package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/txn"
)

// Nested executes the function "body" as a part of the attempt, under a given Authority. If the
// function fails, Nested returns the error of the function and undoes its writes. The reads of the
// function remain in the read set.
//
// The argument ctx must be the context of the attempt. The function can have its own context with
// an earlier deadline. If the context of the function ends and ctx does not end, only the writes of
// the function are undone. If ctx ends, or if other transactions have changed records that the
// attempt read, the attempt fails, and every later call of the View fails.
//
// Nested returns the fault call_limit if the attempt exceeds txn.MaxNested nested bodies, or
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
		return abi.Faultf(abi.CallLimit, "the run exceeded the limit of %d nested runs or of %d levels of nesting", txn.MaxNested, txn.MaxDepth)
	case errors.Is(err, txn.ErrConflict) || ctx.Err() != nil:
		v.closed = err
	default:
		v.closed = nil // only the context of the nested body has ended
	}
	return err
}
