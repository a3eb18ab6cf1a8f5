package cell

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/toolrun/toolrun/abi"
)

// What Go writes when it cannot go on, by what the cause was.
var (
	outOfMemory = []string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "cannot map pages", "failed to allocate"}
	outOfStack  = []string{"goroutine stack exceeds", "stack overflow"}
)

// death is the end of a cell in the middle of an exchange.
type death struct {
	cause  error // what was wrong with the exchange: io.EOF where the cell just ended
	reason error // why the guard killed it, nil where it did not
	limit  int64 // of the memory, in bytes
	doing  string
	closed bool // the pool was
}

// fault buries a cell and says what its death is to the run. Only what has no explanation is logged: with the cell's
// last words, which are no guest's to see.
func (d death) fault(c *process, log *slog.Logger) error {
	state, words := c.bury()
	ended := errors.Is(d.cause, io.EOF) || errors.Is(d.cause, io.ErrUnexpectedEOF) || errors.Is(d.cause, os.ErrClosed) || brokenPipe(d.cause)
	switch {
	case d.reason != nil:
		return d.reason
	case d.closed:
		return errPoolClosed
	case ended && containsAny(words, outOfStack):
		return abi.Faultf(abi.StackLimit, "%s took more of the stack than it may", d.doing).
			WithHint("a function that calls itself may lack the condition that ends it, or a value is nested very deep")
	case ended && (containsAny(words, outOfMemory) || wasKilled(state)):
		return abi.Faultf(abi.MemoryLimit, "%s took more memory than the %d bytes it may", d.doing, d.limit)
	}
	log.Error("a cell died", "doing", d.doing, "cause", d.cause, "state", fmt.Sprint(state), "stderr", words)
	return abi.Faultf(abi.Internal, "the process of the tool ended for no known reason; the host's log has the details")
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
