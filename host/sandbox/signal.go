package sandbox

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreSignals leaves the end of a worker to its parent: who stops a service often signals all of its processes, and the
// runs under way are to end.
func ignoreSignals() { signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) }
