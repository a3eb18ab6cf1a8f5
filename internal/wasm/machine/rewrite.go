package machine

import (
	"fmt"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/stackguard"
)

// Code is a rewritten module that can be compiled.
type Code struct {
	// Binary is the module to compile.
	Binary []byte
	// Restorable is the same module, rewritten so that the state of an instance can be saved and
	// restored. If the module has state that cannot be saved, Restorable is nil. If Restorable is
	// nil, NotRestorable is the reason.
	Restorable    *snapshot.Module
	NotRestorable error
}

// ModuleError is the error for a module that cannot run because its author made a mistake.
type ModuleError struct{ Err error }

// Error returns the text of the reason.
func (e *ModuleError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *ModuleError) Unwrap() error { return e.Err }

// RewriteOptions select the changes that Rewrite makes. The zero value makes a module interruptible
// and restorable.
type RewriteOptions struct {
	// StackGuard makes the module trap if its C stack exceeds a limit; see package stackguard. The
	// default is false.
	StackGuard bool
}

// Rewrite makes a module interruptible, so that its code yields after each slice of fuel. The
// module must have been parsed within the default limits of package binary. If the module cannot be
// rewritten, the error is a *ModuleError.
func Rewrite(m *binary.Module, o RewriteOptions) (Code, error) {
	limits := binary.Limits{}
	if o.StackGuard {
		code, err := stackguard.Rewrite(m)
		if err != nil {
			return Code{}, &ModuleError{err}
		}
		limits = stackguard.Limits(limits)
		if m, err = parseAgain(code, limits); err != nil {
			return Code{}, err
		}
	}
	code, err := fuel.Rewrite(m, fuel.Options{Module: fuelModule})
	if err != nil {
		return Code{}, &ModuleError{err}
	}
	if m, err = parseAgain(code, fuel.Limits(limits)); err != nil {
		return Code{}, err
	}
	restorable, err := snapshot.Rewrite(m)
	if err != nil {
		return Code{Binary: code, NotRestorable: err}, nil
	}
	return Code{Binary: restorable.Binary, Restorable: restorable}, nil
}

// parseAgain parses a module that a rewriter has written. An error means that the rewriter has a
// bug.
func parseAgain(code []byte, limits binary.Limits) (*binary.Module, error) {
	m, err := binary.Parse(code, limits)
	if err != nil {
		return nil, fmt.Errorf("parse rewritten module: %w", err)
	}
	return m, nil
}
