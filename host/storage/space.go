package storage

import "errors"

// ErrFull is wrapped by the errors of a backend without free space: the errors of Spacer, and the
// error of an Update that did not fit on the disk.
var ErrFull = errors.New("the backend has no space for more records")

// Spacer is a Backend that can report that it has no free space. Callers assume that a backend that
// does not implement Spacer always has free space.
type Spacer interface {
	// Space returns an error that wraps ErrFull if no more records should be stored in the backend.
	// Otherwise it returns nil. The result of Space may be up to a second old. Space is safe for
	// concurrent use and fast enough to be called before each write.
	//
	// The backend itself does not reject updates because of missing space. Callers call Space only
	// before writes that increase the usage, so that records can be removed even without free
	// space.
	Space() error
}

// Space returns the result of b.Space if b is a Spacer, and nil otherwise.
func Space(b Backend) error {
	if s, ok := b.(Spacer); ok {
		return s.Space()
	}
	return nil
}
