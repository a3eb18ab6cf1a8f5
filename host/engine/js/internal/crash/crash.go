package crash

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Prefixes of the names of functions, in goja and in this module.
var (
	gojas = []string{"github.com/dop251/goja.", "github.com/dop251/goja/"}
	ours  = []string{"github.com/toolrun/toolrun/"}
)

// Crash is a recovered panic. It is immutable.
type Crash struct {
	// Value is the value that recover returned.
	Value any
	// Stack is the stack at that moment in the format of debug.Stack, including the frames that
	// panicked.
	Stack []byte
	// Goja reports whether goja panicked, or a function that goja called, other than one of ours.
	Goja bool
}

// Of returns a Crash for the result of recover, and nil for nil. The deferred function that
// recovered must call it before it returns. Of returns a Crash unchanged: one goroutine may recover
// a panic and another one raise it again.
func Of(value any) *Crash {
	if value == nil {
		return nil
	}
	if c, ok := value.(*Crash); ok {
		return c
	}
	return &Crash{Value: value, Stack: debug.Stack(), Goja: isGojas(raised(functions()))}
}

// functions returns the names of the functions on the stack, innermost first.
func functions() []string {
	pcs := make([]uintptr, 512)
	n := runtime.Callers(0, pcs)
	for n == len(pcs) { // the depth of the stack depends on the guest
		pcs = make([]uintptr, 2*len(pcs))
		n = runtime.Callers(0, pcs)
	}
	var names []string
	for frames := runtime.CallersFrames(pcs[:n]); ; {
		frame, more := frames.Next()
		names = append(names, frame.Function)
		if !more {
			return names
		}
	}
}

// repanicFrames is the largest number of frames between a panic and a repeated one: a deferred
// function and the functions that it calls to decide. Any other code that runs during a panic and
// may panic itself is guest code, behind more frames of goja.
const repanicFrames = 2

// raised returns the part of a stack from the first panic on. Each function that recovers and
// panics again leaves a panic on the stack, above the one that it repeats.
func raised(stack []string) []string {
	for {
		_, after, found := cutPanic(stack)
		if !found {
			return nil
		}
		between, _, again := cutPanic(after)
		if !again || len(between) > repanicFrames {
			return after
		}
		stack = after
	}
}

// cutPanic splits a stack at the innermost panic.
func cutPanic(stack []string) (before, after []string, found bool) {
	for i, name := range stack {
		if name == "runtime.gopanic" {
			return stack[:i], stack[i+1:], true
		}
	}
	return stack, nil, false
}

// isGojas reports whether goja is closer to the top of the stack than this module. Frames of the
// standard library and of other modules count for their caller.
func isGojas(stack []string) bool {
	for _, name := range stack {
		if hasPrefix(name, ours) {
			return false
		}
		if hasPrefix(name, gojas) {
			return true
		}
	}
	return false
}

func hasPrefix(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
