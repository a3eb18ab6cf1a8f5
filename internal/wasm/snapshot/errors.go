package snapshot

import (
	"errors"
	"fmt"
)

// The errors that callers tell apart. Where one of the first two comes, the module runs without a snapshot.
var (
	// ErrUnsupported means that a module has state that an image does not hold. The text says which.
	ErrUnsupported = errors.New("the module cannot be snapshotted")
	// ErrVaries means that the state of an initialised guest is not the same for every run, because it asked
	// for the time or for random numbers meanwhile. Each run has to initialise its own.
	ErrVaries = errors.New("the module must be initialised for every run")
	// ErrMemory means that an image is larger than the memory that a run may have.
	ErrMemory = errors.New("the guest needs more memory than it may have")
	// ErrClosed means that the image was closed.
	ErrClosed = errors.New("the snapshot is closed")
)

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
