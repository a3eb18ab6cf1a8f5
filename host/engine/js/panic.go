package js

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine/js/internal/crash"
)

// recovered turns a panic into a fault: one of goja's, into which a tool's code can lead it, into what broken returns,
// and any other into an internal one. What it was is for the log of the host alone.
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

// unreadable is the fault of a source that goja's parser or compiler panics at.
func unreadable(name string) error {
	f := abi.Faultf(abi.SourceInvalid, "%s holds code that the JavaScript engine cannot read", name)
	f.File = name
	return f
}

// broken is the fault of a run in which goja panicked, unless the host had ended it. It names no place: by now goja has
// given up all calls that were under way.
func (r *run) broken() error {
	if r.realm.halted != nil {
		return r.realm.halted
	}
	return abi.Faultf(abi.ToolError, "the JavaScript engine could not carry the code out").
		WithHint("something in the code makes the engine itself fail, where is not known; write that part another way")
}
