package storage

import "errors"

// ErrFull is wrapped by the errors of a backend without free space: by errors of Spacer, and of an
// Update whose commit did not fit on the disk.
var ErrFull = errors.New("no space is left for more records")

// Spacer is a Backend that can report that its space is used up. Backends that do not implement it
// always have space.
type Spacer interface {
	// Space returns an error that wraps ErrFull if the backend should not get more records, and nil
	// otherwise. It is cheap enough to be called before each write; its answer may be a second old.
	// It is safe for concurrent use.
	//
	// The backend itself does not reject updates for this reason: callers call Space before writes
	// that make the usage grow, so that records can be removed when no space is left.
	Space() error
}

// Space returns the result of b.Space if b is a Spacer, else nil.
func Space(b Backend) error {
	if s, ok := b.(Spacer); ok {
		return s.Space()
	}
	return nil
}
