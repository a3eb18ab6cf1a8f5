package machine

import "strings"

// wazero distinguishes its traps only by their text.
const (
	stackOverflow = "stack overflow"
	stackHeading  = "wasm stack trace:"
	goPanic       = "(recovered by wazero)"
)

// Trap is the error of a call that the guest's own code ended.
type Trap struct {
	// Message is wazero's description of the trap, such as "unreachable".
	Message string
	// Stack is wazero's stack trace, a frame a line.
	Stack string
}

// TrapOf reads the error of a call that ended neither by an exit nor by the host. It panics with
// err if a host function panicked: that is a bug of the host.
func TrapOf(err error) Trap {
	message, stack, _ := strings.Cut(err.Error(), stackHeading)
	if strings.Contains(message, goPanic) {
		panic(err)
	}
	message = strings.TrimSpace(message)
	message = message[strings.LastIndex(message, ": ")+1:] // without the place, such as "initialize the module"
	return Trap{Message: strings.TrimSpace(message), Stack: stack}
}

// IsStackOverflow reports whether calls were nested deeper than wazero's stack allows.
func (t Trap) IsStackOverflow() bool { return t.Message == stackOverflow }
