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

// These constants are messages of Go's runtime. Each constant belongs to one cause of a fatal
// error.
var (
	outOfMemory = []string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "cannot map pages", "failed to allocate",
		"memory reservation exceeds", "failed to reserve", "cannot reserve", "not in usable address space", "errno=12", "errno 12", "address space collisions"}
	outOfStack = []string{"goroutine stack exceeds", "stack overflow"}
)

// exit describes how a worker ended during an exchange.
type exit struct {
	cause  error // the error of the exchange, such as io.EOF
	reason error // the reason why the watchdog killed the worker, or nil
	limit  int64 // the memory limit of the worker in bytes
	doing  string
	closed bool // whether the pool was closed
}

// fault reaps a worker. fault returns the fault for the run of the worker. If the cause of the exit
// is unknown, the method logs the exit and the worker's standard error. Guests must not see the
// standard error.
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

// diedIdle reports whether another process killed a worker before the worker sent a frame. If a
// worker was killed while it was idle, it may have died before the request. If the worker was
// started for the request, it was never idle, and diedIdle returns false.
func (w *worker) diedIdle(cause error) bool {
	if !w.unproven || !w.alive() || !isDisconnect(cause) {
		return false
	}
	state, _ := w.reap()
	return wasSIGKILLed(state)
}

// isDisconnect reports whether an error of an exchange means that the worker has exited.
func isDisconnect(cause error) bool {
	return errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) || errors.Is(cause, os.ErrClosed) || brokenPipe(cause)
}

// memoryFault returns the fault for a guest that exceeded its memory limit.
func memoryFault(doing string, limit int64) *abi.Fault {
	return abi.Faultf(abi.MemoryLimit, "%s exceeded its memory limit (%s)", doing, engine.FormatSize(limit))
}

// ranOutOfMemory reports whether a process died because it had too little memory. Some parts of
// Go's garbage collector do not check whether an allocation succeeded. After a failed allocation,
// these parts read address 0. In the code of Go's runtime, an access to address 0 has only one
// cause, which is a lack of memory.
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
