package sandbox

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreSignals ignores the signals that stop a service. Such signals often reach all processes of
// the service. Active runs can then finish, because only the parent decides when a worker ends.
func ignoreSignals() { signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) }
