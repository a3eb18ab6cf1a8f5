package wasm

import (
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// maxFrames bounds the frames of a trap that are told.
const maxFrames = 20

// trapped is the fault of a guest that a trap ended.
func (r *run) trapped(err error) error {
	trap := machine.TrapOf(err)
	switch {
	case trap.IsStackOverflow():
		f := abi.Faultf(abi.StackLimit, "calls are nested deeper than the stack is large").
			WithHint("a function that calls itself may lack the condition that ends it")
		f.Stack = frames(trap.Stack)
		return f
	case r.refused:
		return r.outOfMemory()
	}
	if len(r.failure) > 0 { // it said why before it gave up
		return r.failed(1)
	}
	message := trap.Message
	if r.lastWords != "" {
		message += ": " + r.lastWords
	}
	f := abi.Faultf(abi.ToolError, "the plug-in "+engine.Trapped+"%s", message)
	f.Stack = frames(trap.Stack)
	return f
}

func (r *run) outOfMemory() error {
	return abi.Faultf(abi.MemoryLimit, "the plug-in asked for more memory than the %s it may have", size(r.limits.MemoryBytes)).
		WithHint("limits: {memory: ...} of the tool gives it more, up to what the host allows")
}

// size is a number of bytes as people write it.
func size(bytes int64) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// frames are the first frames of wazero's stack trace that have a name, a line each.
func frames(trace string) string {
	var lines []string
	for line := range strings.Lines(trace) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, ".$") {
			continue // ".$12" is a function by its number, which tells an author nothing
		}
		if lines = append(lines, "at "+line); len(lines) == maxFrames {
			break
		}
	}
	return cut([]byte(strings.Join(lines, "\n")), maxMessageBytes)
}
