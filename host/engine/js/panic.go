package js

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine/js/internal/crash"
)

// recovered converts a panic to a fault. If goja panicked, the cause is the tool's code, and the
// fault is the result of the function "broken". Any other panic becomes an internal fault. The
// value and the stack of the panic appear only in the host's log.
func (e *Engine) recovered(err *error, broken func() error) {
	c := crash.Of(recover())
	if c == nil {
		return
	}
	e.panicked(c.Value, c.Stack)
	if c.Goja {
		*err = broken()
		return
	}
	*err = abi.Faultf(abi.Internal, "the JavaScript engine failed; the host's log has the details")
}

// unreadable returns the fault for a source that makes goja's parser or compiler panic.
func unreadable(name string) error {
	f := abi.Faultf(abi.SourceInvalid, "%s contains code that the JavaScript engine cannot compile", name)
	f.File = name
	return f
}

// broken returns the fault of a run in which goja panicked. If the host ended the run before the
// panic, broken returns the host's error. The fault has no position, because a panic discards
// goja's call stack.
func (r *run) broken() error {
	if r.realm.halted != nil {
		return r.realm.halted
	}
	return abi.Faultf(abi.ToolError, "the JavaScript engine could not execute the code").
		WithHint("simplify the code; the engine cannot report the position")
}
