package sandbox

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreSignals makes a worker ignore the signals that stop a service. A signal that stops a
// service often reaches all processes of the service. Only the parent decides when a worker ends,
// so active runs can finish.
func ignoreSignals() { signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) }
