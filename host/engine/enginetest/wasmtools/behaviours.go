package wasmtools

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// Write returns a function that can be used as the field Write of an enginetest.Config. Write
// builds the plug-ins. If the go command is missing, it skips the test.
func Write(t testing.TB) func(enginetest.Behaviour) (engine.Source, bool) {
	t.Helper()
	suite, added := Build(t, "suite"), Build(t, "added")
	return func(b enginetest.Behaviour) (engine.Source, bool) {
		src := engine.Source{Path: "suite.wasm", Code: suite, Entry: strings.ReplaceAll(strings.ToLower(string(b)), " ", "_")}
		switch b {
		case enginetest.Recurse:
			src = engine.Source{Path: "recursive.wasm", Code: []byte(Recursive)}
		case enginetest.Added:
			src = engine.Source{Path: "added.wasm", Code: added}
		}
		return src, !unsupported[b]
	}
}

// unsupported contains the behaviors that Go cannot express. Go has no keyword arguments and no
// promises. Its compiler rejects unknown imports and invalid source.
var unsupported = map[enginetest.Behaviour]bool{
	enginetest.Keywords: true, enginetest.Aliases: true, enginetest.Unknown: true, enginetest.Forget: true,
	enginetest.Never: true, enginetest.Import: true, enginetest.Broken: true,
}

// Recursive is a WebAssembly module whose entry calls itself: (func (export "toolrun_run") (result
// i32) call 1 i32.const 1 i32.add). A plug-in that is written in Go cannot test the stack limit of
// WebAssembly, because Go keeps its stack in linear memory. The size of linear memory has a
// different limit.
const Recursive = "\x00asm\x01\x00\x00\x00" +
	"\x01\x08\x02\x60\x00\x00\x60\x00\x01\x7f" + "\x03\x03\x02\x00\x01" + "\x05\x03\x01\x00\x01" +
	"\x07\x28\x03\x06memory\x02\x00\x0dtoolrun_abi_1\x00\x00\x0btoolrun_run\x00\x01" +
	"\x0a\x0c\x02\x02\x00\x0b\x07\x00\x10\x01\x41\x01\x6a\x0b"
