package snapshot

import (
	"errors"
	"fmt"
)

// Callers distinguish the following errors. After ErrUnsupported or ErrVaries, the module can run
// without a snapshot.
var (
	// ErrUnsupported means that a module has state that an image cannot contain. The text of the
	// error names the state that an image cannot contain.
	ErrUnsupported = errors.New("cannot take a snapshot of the module")
	// ErrVaries means that the state of an initialized guest differs between runs, because the
	// guest read a clock or random numbers. After ErrVaries, each run must initialize its own
	// instance.
	ErrVaries = errors.New("the module must be initialized for every run")
	// ErrMemory means that an image exceeds the memory limit of a run.
	ErrMemory = errors.New("the guest exceeds its memory limit")
	// ErrClosed means that the image was closed.
	ErrClosed = errors.New("the snapshot is closed")
)

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
