package js

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine/js/internal/crash"
)

// recovered converts a panic to a fault: a panic of goja, which a tool's code can cause, to the
// result of broken, and any other to an internal fault. Only the host's log receives the details.
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

// unreadable returns the fault for a source on which goja's parser or compiler panics.
func unreadable(name string) error {
	f := abi.Faultf(abi.SourceInvalid, "%s contains code that the JavaScript engine cannot compile", name)
	f.File = name
	return f
}

// broken returns the fault of a run in which goja panicked, unless the host had ended it. It has no
// position, because goja has already discarded the calls.
func (r *run) broken() error {
	if r.realm.halted != nil {
		return r.realm.halted
	}
	return abi.Faultf(abi.ToolError, "the JavaScript engine could not execute the code").
		WithHint("some part of the code, at an unknown position, makes the engine fail; rewrite it")
}
