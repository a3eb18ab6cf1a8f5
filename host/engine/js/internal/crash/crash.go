package crash

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// The prefixes of the names of functions in goja and in toolrun.
var (
	gojas = []string{"github.com/dop251/goja.", "github.com/dop251/goja/"}
	ours  = []string{"github.com/toolrun/toolrun/"}
)

// Crash is a recovered panic. Crash is immutable.
type Crash struct {
	// Value is the value that recover returned.
	Value any
	// Stack is the stack at the time of the panic. Stack has the format of debug.Stack and includes
	// the frames that panicked.
	Stack []byte
	// Goja reports whether goja caused the panic. Goja is also true if goja called a function of
	// another module and this function panicked.
	Goja bool
}

// Of returns a Crash for the result of recover, or nil for nil. The deferred function that called
// recover must call Of before it returns. A goroutine can recover a panic as a *Crash, and another
// goroutine can raise the *Crash as a new panic. For such a panic, Of returns the *Crash unchanged.
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
	for n == len(pcs) { // a guest can make the stack deep
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

// repanicFrames is the maximum number of frames between a panic and its repetition by a deferred
// function that recovered it. All these frames belong to the deferred function and to the functions
// that it calls. Guest code can also run during a panic and cause another panic, but then the
// number of frames is larger.
const repanicFrames = 2

// raised returns the part of a stack that begins at the first panic. If a function recovers a panic
// and panics again with the same value, the stack contains both panics, the second above the first.
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

// isGojas reports whether goja is closer to the top of the stack than toolrun. isGojas ignores the
// frames of the standard library and of other modules, because such a frame is attributed to its
// caller.
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
