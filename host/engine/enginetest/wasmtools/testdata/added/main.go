// Command added calls an operation that is in no binding.
package main

import (
	"encoding/json"
	"unsafe"

	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

//go:wasmimport memory probe_content
func probeContent(store unsafe.Pointer, storeSize uint32, question unsafe.Pointer, questionSize uint32) int32

//go:wasmimport toolrun result_read
func resultRead(buffer unsafe.Pointer, offset, size uint32) int32

func init() {
	toolrun.Handle(func(json.RawMessage) (json.RawMessage, error) {
		const store, question = "prefs", `{"a":1}`
		size := probeContent(unsafe.Pointer(unsafe.StringData(store)), uint32(len(store)), unsafe.Pointer(unsafe.StringData(question)), uint32(len(question)))
		reply := make([]byte, size)
		resultRead(unsafe.Pointer(unsafe.SliceData(reply)), 0, uint32(size))
		return reply, nil
	})
}

func main() {}
