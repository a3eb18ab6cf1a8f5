package sandbox

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// The messages of Go's runtime for fatal errors, by cause.
var (
	outOfMemory = []string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "cannot map pages", "failed to allocate",
		"memory reservation exceeds", "failed to reserve", "cannot reserve", "not in usable address space", "errno=12", "errno 12", "address space collisions"}
	outOfStack = []string{"goroutine stack exceeds", "stack overflow"}
)

// exit describes how a worker ended during an exchange.
type exit struct {
	cause  error // the error of the exchange, such as io.EOF
	reason error // the reason why the watchdog killed the worker; nil if the watchdog did not kill the worker
	limit  int64 // the memory limit, in bytes
	doing  string
	closed bool // true if the pool was closed
}

// The method "fault" reaps a worker and returns the fault for the run. If the exit has no known
// cause, the method logs the exit and the worker's standard error, which guests must not see.
func (d exit) fault(w *worker, log *slog.Logger) error {
	state, stderr := w.reap()
	disconnected := isDisconnect(d.cause)
	switch {
	case d.reason != nil:
		return d.reason
	case d.closed:
		return errPoolClosed
	case disconnected && containsAny(stderr, outOfStack):
		return abi.Faultf(abi.StackLimit, "%s exceeded the stack limit", d.doing).
			WithHint("check for infinite recursion or a deeply nested value")
	case disconnected && (ranOutOfMemory(stderr) || wasSIGKILLed(state)):
		return memoryFault(d.doing, d.limit)
	}
	log.Error("a worker died", "doing", d.doing, "cause", d.cause, "state", fmt.Sprint(state), "stderr", stderr)
	return abi.Faultf(abi.Internal, "the tool's process exited unexpectedly; see the host's log")
}

// diedIdle reports whether another process killed a lost worker before it sent a frame. A worker
// that was killed while idle may have died before the request. If the worker was started for the
// request, diedIdle returns false.
func (w *worker) diedIdle(cause error) bool {
	if !w.unproven || !w.alive() || !isDisconnect(cause) {
		return false
	}
	state, _ := w.reap()
	return wasSIGKILLed(state)
}

// isDisconnect reports whether an exchange failed because the worker has exited.
func isDisconnect(cause error) bool {
	return errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) || errors.Is(cause, os.ErrClosed) || brokenPipe(cause)
}

// memoryFault returns the fault of a guest that exceeded its memory limit.
func memoryFault(doing string, limit int64) *abi.Fault {
	return abi.Faultf(abi.MemoryLimit, "%s exceeded its memory limit (%s)", doing, engine.FormatSize(limit))
}

// ranOutOfMemory reports whether a process died because it had too little memory. Parts of Go's
// garbage collector do not check allocations and then read address 0. In the code of Go's runtime,
// only a lack of memory causes an access to address 0.
func ranOutOfMemory(stderr string) bool {
	if containsAny(stderr, outOfMemory) {
		return true
	}
	return strings.Contains(stderr, "SIGSEGV: ") && strings.Contains(stderr, "addr=0x0\n") && strings.Contains(stderr, "\ngoroutine 0 ")
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
