package wasm

import (
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// wazero tells its traps apart by their text alone.
const (
	trapPrefix    = "wasm error: "
	stackOverflow = "stack overflow"
	stackHeading  = "wasm stack trace:"
	goPanic       = "(recovered by wazero)"
)

// maxFrames bounds the frames of a trap that are told.
const maxFrames = 20

// trapped is the fault of a guest that a trap ended.
func (r *run) trapped(err error) error {
	text := err.Error()
	message, stack, _ := strings.Cut(text, stackHeading)
	message = strings.TrimSpace(message)
	switch {
	case strings.Contains(message, goPanic):
		panic(err) // a bug of this package
	case strings.TrimPrefix(message, trapPrefix) == stackOverflow:
		f := abi.Faultf(abi.StackLimit, "calls are nested deeper than the stack is large").
			WithHint("a function that calls itself may lack the condition that ends it")
		f.Stack = frames(stack)
		return f
	case r.refused:
		return r.outOfMemory()
	}
	if len(r.failure) > 0 { // it said why before it gave up
		return r.failed(1)
	}
	message = strings.TrimPrefix(message, trapPrefix)
	if r.lastWords != "" {
		message += ": " + r.lastWords
	}
	f := abi.Faultf(abi.ToolError, "the plug-in "+engine.Trapped+"%s", message)
	f.Stack = frames(stack)
	return f
}

func (r *run) outOfMemory() error {
	return abi.Faultf(abi.MemoryLimit, "the plug-in asked for more memory than the %d bytes it may have", r.limits.MemoryBytes)
}

// frames are the first frames of wazero's stack trace, a line each.
func frames(trace string) string {
	var lines []string
	for line := range strings.Lines(trace) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if lines = append(lines, "at "+line); len(lines) == maxFrames {
			break
		}
	}
	return cut([]byte(strings.Join(lines, "\n")), maxMessageBytes)
}
