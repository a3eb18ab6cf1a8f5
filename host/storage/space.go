package storage

import "errors"

// ErrFull means that a backend has no free space. Two kinds of errors wrap ErrFull: the errors of
// Spacer, and the error of an Update whose writes did not fit on the disk.
var ErrFull = errors.New("the backend has no space for more records")

// Spacer is a Backend that can report that it has no free space. If a backend does not implement
// Spacer, callers assume that the backend always has free space.
type Spacer interface {
	// Space returns an error that wraps ErrFull if callers should not store more records. Otherwise
	// it returns nil. The result of Space may be one second old. Space is safe for concurrent use
	// and fast enough to be called before each write.
	//
	// The backend itself does not reject updates if the free space is low. Callers call Space only
	// before writes that increase the usage, so records can still be removed if the backend has no
	// free space.
	Space() error
}

// Space returns the result of b.Space if b is a Spacer, and nil otherwise.
func Space(b Backend) error {
	if s, ok := b.(Spacer); ok {
		return s.Space()
	}
	return nil
}
