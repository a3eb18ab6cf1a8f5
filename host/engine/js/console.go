package js

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/abi"
)

// maxLogBytes is the maximum size of one log line.
const maxLogBytes = 8 << 10

// console is the guest's global console.
type console struct {
	*realm
	program *program
	prelude *prelude
	write   func(abi.Level, string) error // the function that writes a log line; nil drops all lines
}

// The method "object" creates the global console.
func (c *console) object() goja.Value {
	return c.prelude.create("console.js", "createConsole", c.hostObject(map[string]nativeFunc{
		"log":     c.log,
		"stackOf": c.stackOf,
		"now":     c.elapsed,
	}))
}

// log implements log(level, text), which writes a log line.
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

// stackOf implements stackOf(error), which returns an error's stack with positions in the author's
// files.
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
