// Package toolrun is the Go binding for plug-ins: tools that a toolrun host runs as WebAssembly.
// Plug-ins access stored data and the host only through this package. The package implements
// version 1 of the ABI, which abi/ABI.md specifies.
//
// A plug-in is a main package that passes a function to [Handle] in init and has an empty main
// function:
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
// Each run starts with a new instance, so changes to variables do not survive the run. The host can
// run init functions once and reuse the initialized state for many runs. Init functions cannot
// access stored data or the input.
//
// A failed memory call returns an *[abi.Fault], so errors.Is(err, abi.AccessDenied) works. If the
// handler returns this fault, wrapped or not, the run fails with the fault. All functions are safe
// for concurrent use.
//
// On systems other than wasip1, the guest has no host, so calls fail with abi.Unavailable. Package
// toolruntest provides a host for tests.
package toolrun
