package js

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxLogBytes is the maximum size of a log line.
const maxLogBytes = 8 << 10

// console is the global "console" of the guest.
type console struct {
	*realm
	program *program
	prelude *prelude
	write   func(abi.Level, string) error // writes a log line; if nil, all lines are dropped
}

// object creates the global "console".
func (c *console) object() goja.Value {
	return c.prelude.create("console.js", "createConsole", c.hostObject(map[string]nativeFunc{
		"log":     c.log,
		"stackOf": c.stackOf,
		"now":     c.elapsed,
	}))
}

// log implements the function log(level, text), which writes a log line.
func (c *console) log(call goja.FunctionCall) goja.Value {
	if c.halted != nil || c.write == nil {
		return goja.Undefined()
	}
	text := strings.ToValidUTF8(call.Argument(1).String(), "\uFFFD")
	if err := c.write(abi.Level(call.Argument(0).String()), cut(text, maxLogBytes)); err != nil {
		c.halt(err)
	}
	return goja.Undefined()
}

// stackOf implements the function stackOf(error). This function returns the stack of an error, with
// positions in the author's files.
func (c *console) stackOf(call goja.FunctionCall) goja.Value {
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
	if t := c.program.parseStack("\tat " + frames); len(t) > 0 {
		text += "\n" + t.String()
	}
	return c.vm.ToValue(text)
}
