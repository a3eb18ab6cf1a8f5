package sandbox

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreSignals makes a worker ignore the signals that stop a service. These signals often reach
// all processes of the service. Only the parent decides when a worker ends, so active runs can
// finish.
func ignoreSignals() { signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) }
