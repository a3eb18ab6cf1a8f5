//go:build !wasip1

package imports

import (
	"sync/atomic"

	"github.com/toolrun/toolrun/abi"
)

// Host is a test double of the host of a plug-in. Host is safe for concurrent use.
type Host interface {
	Input() []byte
	Context() []byte
	WriteOutput(text []byte) int32
	WriteContext(text []byte) int32
	WriteError(text []byte)
	Log(level abi.Level, text string)
	Call(op string, args []string) (reply []byte, number int32, known bool)
}

var current atomic.Pointer[Host]

// Use makes h the current host until release is called. Use returns false if another host is in
// use.
func Use(h Host) (release func(), ok bool) {
	if !current.CompareAndSwap(nil, &h) {
		return nil, false
	}
	Changes.Lock()
	defer Changes.Unlock()
	Changes.Keys = nil
	return func() { current.CompareAndSwap(&h, nil) }, true
}

func host() Host {
	if h := current.Load(); h != nil {
		return *h
	}
	return none{}
}

// The type none is the host that is used if no test has set a host.
type none struct{}

func (none) Input() []byte             { return []byte("{}") }
func (none) Context() []byte           { return []byte("{}") }
func (none) WriteOutput([]byte) int32  { return 0 }
func (none) WriteContext([]byte) int32 { return 0 }
func (none) WriteError([]byte)         {}
func (none) Log(abi.Level, string)     {}

func (none) Call(string, []string) ([]byte, int32, bool) {
	return []byte(`{"code":"unavailable","message":"the code runs outside a plug-in, without a host","hint":"create one for a test with toolruntest.New"}`),
		-int32(abi.Unavailable.Number()), true
}

// Input returns the input document of the run.
func Input() []byte { return host().Input() }

// Context returns the context document.
func Context() []byte { return host().Context() }

// WriteOutput sets the output. WriteOutput returns 0, or the negated number of a fault.
func WriteOutput(text []byte) int32 { return host().WriteOutput(text) }

// WriteContext sets the changes of the context. WriteContext returns 0, or the negated number of a
// fault.
func WriteContext(text []byte) int32 { return host().WriteContext(text) }

// WriteError sets the error that the run fails with.
func WriteError(text []byte) { host().WriteError(text) }

// Log logs a line.
func Log(level abi.Level, text string) { host().Log(level, text) }

// perform performs an operation. perform fails if the host of the test does not provide the
// operation.
func perform(op string, args []string) (reply []byte, number int32) {
	reply, number, known := Call(op, args)
	if !known {
		return []byte(`{"code":"unavailable","message":"the test host does not implement this operation"}`), -int32(abi.Unavailable.Number())
	}
	return reply, number
}

// Call performs a memory operation and returns the reply. If number is negative, the reply is a
// fault.
func Call(op string, args []string) (reply []byte, number int32, known bool) {
	return host().Call(op, args)
}
