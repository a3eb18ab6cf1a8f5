package wasm

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// maxFrames is the maximum number of stack frames in the fault for a trap.
const maxFrames = 20

// trapped returns the fault of a guest that trapped.
func (r *run) trapped(err error) error {
	trap := machine.TrapOf(err)
	switch {
	case trap.IsStackOverflow():
		f := abi.Faultf(abi.StackLimit, "the plug-in exceeded the stack limit: calls are nested too deeply").
			WithHint("check that recursive functions terminate")
		f.Stack = frames(trap.Stack)
		return f
	case r.refused:
		return r.outOfMemory()
	}
	if len(r.failure) > 0 { // before it aborted, the guest printed the reason
		return r.failed(1)
	}
	message := trap.Message
	if r.abortMessage != "" {
		message += ": " + r.abortMessage
	}
	f := abi.Faultf(abi.ToolError, "the plug-in "+engine.Trapped+"%s", message)
	f.Stack = frames(trap.Stack)
	return f
}

func (r *run) outOfMemory() error {
	return abi.Faultf(abi.MemoryLimit, "the plug-in exceeded its memory limit of %s", size(r.limits.MemoryBytes)).
		WithHint("raise limits.memory of the tool, or the host's limit")
}

// size formats a number of bytes.
func size(bytes int64) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// frames returns the names of the first functions in wazero's stack trace, one name per line. The
// function ignores functions that have no name.
func frames(trace string) string {
	var lines []string
	for line := range strings.Lines(trace) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, ".$") {
			continue // skip functions without a name, such as ".$12"
		}
		if lines = append(lines, "at "+line); len(lines) == maxFrames {
			break
		}
	}
	return cut([]byte(strings.Join(lines, "\n")), maxMessageBytes)
}
