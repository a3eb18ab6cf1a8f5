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

// What Go writes when it cannot go on, by what the cause was.
var (
	outOfMemory = []string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "cannot map pages", "failed to allocate",
		"memory reservation exceeds", "failed to reserve", "cannot reserve", "not in usable address space", "errno=12", "errno 12", "address space collisions"}
	outOfStack = []string{"goroutine stack exceeds", "stack overflow"}
)

// death is the end of a worker in the middle of an exchange.
type exit struct {
	cause  error // what was wrong with the exchange: io.EOF where the worker just ended
	reason error // why the guard killed it, nil where it did not
	limit  int64 // of the memory, in bytes
	doing  string
	closed bool // the pool was
}

// fault buries a worker and says what its death is to the run. Only what has no explanation is logged: with the worker's
// last words, which are no guest's to see.
func (d exit) fault(w *worker, log *slog.Logger) error {
	state, stderr := w.reap()
	disconnected := isDisconnect(d.cause)
	switch {
	case d.reason != nil:
		return d.reason
	case d.closed:
		return errPoolClosed
	case disconnected && containsAny(stderr, outOfStack):
		return abi.Faultf(abi.StackLimit, "%s took more of the stack than it may", d.doing).
			WithHint("a function that calls itself may lack the condition that ends it, or a value is nested very deep")
	case disconnected && (ranOutOfMemory(stderr) || wasSIGKILLed(state)):
		return memoryFault(d.doing, d.limit)
	}
	log.Error("a worker died", "doing", d.doing, "cause", d.cause, "state", fmt.Sprint(state), "stderr", stderr)
	return abi.Faultf(abi.Internal, "the process of the tool ended for no known reason; the host's log has the details")
}

// diedWaiting reports whether a worker that is lost was killed, by none of ours, before it said a word: it may well have
// died before it was asked. One that was made for what it was asked never did.
func (w *worker) diedIdle(cause error) bool {
	if !w.unproven || !w.alive() || !isDisconnect(cause) {
		return false
	}
	state, _ := w.reap()
	return wasSIGKILLed(state)
}

// ended reports whether an exchange broke off because the worker is no more.
func isDisconnect(cause error) bool {
	return errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) || errors.Is(cause, os.ErrClosed) || brokenPipe(cause)
}

// overMemory is what becomes of a guest that has more memory than it may.
func memoryFault(doing string, limit int64) *abi.Fault {
	return abi.Faultf(abi.MemoryLimit, "%s took more memory than the %s it may", doing, engine.FormatSize(limit))
}

// starved reports whether a process died of a lack of memory. Parts of Go's garbage collector do not look whether they
// got what they asked for, and read address 0 then; nothing else does that on a stack of the runtime's own.
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
