package js

import (
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxLogBytes bounds one log line.
const maxLogBytes = 8 << 10

func (r *run) makeConsole() goja.Value {
	return r.create("console.js", "createConsole", r.hostObject(map[string]nativeFunc{
		"log":     r.log,
		"stackOf": r.stackOf,
		"now":     r.elapsed,
	}))
}

// log hands over a line: log(level, text).
func (r *run) log(call goja.FunctionCall) goja.Value {
	if r.halted != nil || r.host.Log == nil {
		return goja.Undefined()
	}
	text := strings.ToValidUTF8(call.Argument(1).String(), "\uFFFD")
	if err := r.host.Log(abi.Level(call.Argument(0).String()), cut(text, maxLogBytes)); err != nil {
		r.halt(err)
	}
	return goja.Undefined()
}

// stackOf tells an error's stack in the author's own lines: stackOf(error).
func (r *run) stackOf(call goja.FunctionCall) goja.Value {
	object, ok := call.Argument(0).(*goja.Object)
	if !ok {
		return goja.Undefined()
	}
	stack, ok := object.Get("stack").(goja.String)
	if !ok {
		return goja.Undefined()
	}
	message, frames, _ := strings.Cut(cut(stack.String(), maxStackBytes), "\n\tat ")
	text := strings.TrimRight(message, "\n")
	if t := r.parseStack("\tat " + frames); len(t) > 0 {
		text += "\n" + t.String()
	}
	return r.vm.ToValue(text)
}

// elapsed is the time since the run began, in milliseconds.
func (r *run) elapsed(goja.FunctionCall) goja.Value {
	return r.vm.ToValue(float64(time.Since(r.start).Microseconds()) / 1000)
}
