package imports

import (
	"sync"
	"unsafe"

	"github.com/toolrun/toolrun/abi"
)

// A string goes to the host as its pointer and its length; one that is empty is absent.

//go:wasmimport toolrun input_len
func inputLen() int32

//go:wasmimport toolrun input_read
func inputRead(to *byte, offset, length uint32) int32

//go:wasmimport toolrun context_len
func contextLen() int32

//go:wasmimport toolrun context_read
func contextRead(to *byte, offset, length uint32) int32

//go:wasmimport toolrun output_write
func outputWrite(text string) int32

//go:wasmimport toolrun context_write
func contextWrite(text string) int32

//go:wasmimport toolrun error_write
func errorWrite(text string) int32

//go:wasmimport toolrun result_len
func resultLen() int32

//go:wasmimport toolrun result_read
func resultRead(to *byte, offset, length uint32) int32

//go:wasmimport toolrun log
func log(level int32, text string) int32

// Input returns the input document.
func Input() []byte { return read(inputLen(), inputRead) }

// Context returns the context document.
func Context() []byte { return read(contextLen(), contextRead) }

// WriteOutput sets the output; it answers minus the number of a fault, or 0.
func WriteOutput(text []byte) int32 {
	return outputWrite(unsafe.String(unsafe.SliceData(text), len(text)))
}

// WriteContext sets the changes of the context; it answers minus the number of a fault, or 0.
func WriteContext(text []byte) int32 {
	return contextWrite(unsafe.String(unsafe.SliceData(text), len(text)))
}

// WriteError says why the run fails.
func WriteError(text []byte) { errorWrite(unsafe.String(unsafe.SliceData(text), len(text))) }

// Log logs a line. There is nothing to be done about one that is refused.
func Log(level abi.Level, text string) {
	numbers := [...]abi.Level{abi.LevelDebug, abi.LevelInfo, abi.LevelWarn, abi.LevelError}
	for number, l := range numbers {
		if l == level {
			log(int32(number), text)
		}
	}
}

// calling keeps a call and the reading of its reply together: there is one reply, and to make room for it may let
// another goroutine run.
var calling sync.Mutex

// replyOf makes a call of memory and reads its reply.
func replyOf(call func() int32) (reply []byte, number int32) {
	calling.Lock()
	defer calling.Unlock()
	number = call()
	return read(resultLen(), resultRead), number
}

// argument returns argument i, "" if it is absent.
func argument(args []string, i int) string {
	if i >= len(args) {
		return ""
	}
	return args[i]
}

// read fetches a document of the host in one go.
func read(length int32, from func(to *byte, offset, length uint32) int32) []byte {
	text := make([]byte, max(length, 0))
	n := from(unsafe.SliceData(text), 0, uint32(len(text)))
	return text[:max(n, 0)]
}
