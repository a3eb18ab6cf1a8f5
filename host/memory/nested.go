package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/txn"
)

// Nested executes the function "body" as a part of the attempt, under a given Authority. If the
// function fails, its writes are undone and its reads stay in the read set; see txn.Tx.Nested.
// Nested then returns the error of the function.
//
// The argument ctx must be the context of the attempt. The function can have its own context with
// an earlier deadline. If only this context ends, only the writes of the function are undone. If
// ctx ends, or if other transactions have changed records that the attempt read, the attempt fails,
// and so does every later call of the View.
//
// More than txn.MaxNested nested bodies in an attempt, or more than txn.MaxDepth levels of nesting,
// are a call_limit fault.
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
