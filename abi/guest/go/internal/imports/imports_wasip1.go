package imports

import (
	"sync"
	"unsafe"

	"github.com/toolrun/toolrun/abi"
)

// Strings are passed to the host as a pointer and a length. The empty string represents an absent
// argument.

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

// WriteOutput sets the output. WriteOutput returns 0, or the negated number of a fault.
func WriteOutput(text []byte) int32 {
	return outputWrite(unsafe.String(unsafe.SliceData(text), len(text)))
}

// WriteContext sets the changes of the context. WriteContext returns 0, or the negated number of a
// fault.
func WriteContext(text []byte) int32 {
	return contextWrite(unsafe.String(unsafe.SliceData(text), len(text)))
}

// WriteError sets the error that the run fails with.
func WriteError(text []byte) { errorWrite(unsafe.String(unsafe.SliceData(text), len(text))) }

// Log logs a line. Log ignores failures.
func Log(level abi.Level, text string) {
	numbers := [...]abi.Level{abi.LevelDebug, abi.LevelInfo, abi.LevelWarn, abi.LevelError}
	for number, l := range numbers {
		if l == level {
			log(int32(number), text)
		}
	}
}

// calling is a mutex that is locked from a call until the reply to the call has been read. The host
// keeps only the reply to the last call. Without the lock, another goroutine could make a call,
// which replaces the reply, while this goroutine allocates memory for the reply.
var calling sync.Mutex

// replyOf makes a memory call and reads its reply.
func replyOf(call func() int32) (reply []byte, number int32) {
	calling.Lock()
	defer calling.Unlock()
	number = call()
	return read(resultLen(), resultRead), number
}

// argument returns the argument with index i, or "" if it is absent.
func argument(args []string, i int) string {
	if i >= len(args) {
		return ""
	}
	return args[i]
}

// read reads a document from the host with one call.
func read(length int32, from func(to *byte, offset, length uint32) int32) []byte {
	text := make([]byte, max(length, 0))
	n := from(unsafe.SliceData(text), 0, uint32(len(text)))
	return text[:max(n, 0)]
}
