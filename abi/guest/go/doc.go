// Package toolrun is for plug-ins written in Go: tools that a toolrun host runs as WebAssembly, and whose one way
// out is the memory that this package reaches. It speaks version 1 of the ABI, which abi/ABI.md describes.
//
// A plug-in is a main package that gives [Handle] a function and has an empty main:
//
//	type input struct {
//		Language string `json:"language"`
//	}
//
//	func init() { toolrun.Handle(remember) }
//
//	func main() {}
//
//	func remember(in input) (string, error) {
//		_, err := toolrun.SetContent("prefs", in)
//		return "noted", err
//	}
//
// It is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags=-s -o tool.wasm
//
// Each run has a fresh instance: nothing that a run leaves in a variable is there in the next one. What init
// functions make is kept, since they may run once for many runs, and for the same reason they reach no memory and
// no input.
//
// A call of memory that the host refuses is an *[abi.Fault], so that errors.Is(err, abi.AccessDenied) tells which.
// A fault that the handler returns, wrapped or not, fails the run with that very fault. Functions may be called
// from several goroutines.
//
// On other systems than wasip1 there is no host, and calls fail with abi.Unavailable; package toolruntest has one
// for tests.
package toolrun
