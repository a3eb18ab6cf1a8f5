package sandbox

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreSignals ignores the signals that stop a service. They often reach all of its processes, and
// the parent decides when a worker ends so that active runs can finish.
func ignoreSignals() { signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) }
