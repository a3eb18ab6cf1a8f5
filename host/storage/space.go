package storage

import "errors"

// ErrFull is wrapped by errors that say that there is no room for more: see Spacer. It is wrapped by the error of
// an Update too, where the disk had no room for its commit.
var ErrFull = errors.New("there is no room for more")

// Spacer is a Backend that knows how much room is left. Backends that do not implement it always have room.
type Spacer interface {
	// Space returns an error that wraps ErrFull if the backend should get no more to keep, and nil otherwise. It is
	// cheap enough to be called before each write, and may be a second behind. Safe for concurrent use.
	//
	// The backend itself refuses nothing for it: callers ask before writes that make what is stored grow, so that
	// removing works without room.
	Space() error
}

// Space returns what b reports as a Spacer, and nil if it is not one.
func Space(b Backend) error {
	if s, ok := b.(Spacer); ok {
		return s.Space()
	}
	return nil
}
