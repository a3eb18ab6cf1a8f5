package machine

import "strings"

// These are the texts of wazero's traps. wazero distinguishes traps only by their texts.
const (
	stackOverflow = "stack overflow"
	stackHeading  = "wasm stack trace:"
	goPanic       = "(recovered by wazero)"
)

// Trap is the error of a call that ended because of the guest's own code.
type Trap struct {
	// Message is wazero's description of the trap, such as "unreachable".
	Message string
	// Stack is wazero's stack trace with one frame per line.
	Stack string
}

// TrapOf converts the error of a call that was ended neither by an exit nor by the host. If a host
// function panicked, TrapOf panics with err, because the panic is a bug of the host.
func TrapOf(err error) Trap {
	message, stack, _ := strings.Cut(err.Error(), stackHeading)
	if strings.Contains(message, goPanic) {
		panic(err)
	}
	message = strings.TrimSpace(message)
	message = message[strings.LastIndex(message, ": ")+1:] // without context, such as "initialize the module"
	return Trap{Message: strings.TrimSpace(message), Stack: stack}
}

// IsStackOverflow reports whether the nesting of calls exceeded wazero's stack.
func (t Trap) IsStackOverflow() bool { return t.Message == stackOverflow }
