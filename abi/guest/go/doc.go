// Package toolrun is the Go binding for plug-ins: tools that a toolrun host runs as WebAssembly. It
// is the only interface of a plug-in to memory and to its host. It implements version 1 of the ABI,
// which abi/ABI.md describes.
//
// A plug-in is a main package that passes a function to [Handle] and has an empty main:
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
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags=-s -o tool.wasm
//
// Each run has a fresh instance: changes of variables are lost after the run. Init functions may
// run once for many runs. Values that they create are kept, and they cannot access memory or the
// input.
//
// A memory call that fails returns an *[abi.Fault], so that callers can use errors.Is(err,
// abi.AccessDenied). If the handler returns a fault, wrapped or not, the run fails with that fault.
// Functions may be called from several goroutines.
//
// On systems other than wasip1 there is no host, and calls fail with abi.Unavailable. Package
// toolruntest contains a host for tests.
package toolrun
