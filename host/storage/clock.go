package storage

import "time"

// Clock is implemented by a Backend whose server has a clock of its own. All processes that share
// the backend should use the server's clock, so that a process with a wrong clock does not store
// wrong times.
type Clock interface {
	// Now returns the time of the server. Now does not wait and is safe for concurrent use.
	Now() time.Time
}

// ClockOf returns the clock of a backend, or the system's clock if the backend is nil or does not
// implement Clock.
func ClockOf(b Backend) func() time.Time {
	if c, ok := b.(Clock); ok {
		return c.Now
	}
	return time.Now
}
