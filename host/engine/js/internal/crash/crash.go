package crash

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// What the names of functions begin with, in goja and here.
var (
	gojas = []string{"github.com/dop251/goja.", "github.com/dop251/goja/"}
	ours  = []string{"github.com/toolrun/toolrun/"}
)

// Crash is a panic that was recovered from. It is not changed.
type Crash struct {
	// Value is what recover returned.
	Value any
	// Stack is the stack at that moment, the frames that panicked included, as debug.Stack writes it.
	Stack []byte
	// Goja is set where goja panicked, or something that it called. Something that we called is ours.
	Goja bool
}

// Of makes a Crash of what recover returned, nil of nil. The deferred function that recovered must call it before it
// returns. A Crash is returned as it is: one goroutine may recover from a panic and have another one raise it again.
func Of(value any) *Crash {
	if value == nil {
		return nil
	}
	if c, ok := value.(*Crash); ok {
		return c
	}
	return &Crash{Value: value, Stack: debug.Stack(), Goja: isGojas(raised(functions()))}
}

// functions returns the names of the functions on the stack, the innermost first.
func functions() []string {
	pcs := make([]uintptr, 512)
	n := runtime.Callers(0, pcs)
	for n == len(pcs) { // a guest decides how deep the stack is
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

// passingOn is the most frames that it takes to raise a panic again: a deferred function, and what it calls to decide.
// What else runs during a panic, and may panic itself, is guest code, behind more of goja's frames than that.
const passingOn = 2

// raised returns the part of a stack from where the panic was first raised. Each function that recovers and raises it
// again leaves a panic on the stack, above the one that it passes on.
func raised(stack []string) []string {
	for {
		_, after, found := cutPanic(stack)
		if !found {
			return nil
		}
		between, _, again := cutPanic(after)
		if !again || len(between) > passingOn {
			return after
		}
		stack = after
	}
}

// cutPanic cuts a stack around the innermost panic.
func cutPanic(stack []string) (before, after []string, found bool) {
	for i, name := range stack {
		if name == "runtime.gopanic" {
			return stack[:i], stack[i+1:], true
		}
	}
	return stack, nil, false
}

// isGojas reports whether goja is nearer to the top of the stack than we are: the standard library, and modules that
// goja or an embedder use, are on behalf of whom called them.
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
