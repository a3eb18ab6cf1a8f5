package cell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// lacking are the behaviours that Go has no way to show: it has no keyword arguments and no promises, and what it
// imports, or gets wrong, ends at its compiler.
var lacking = map[enginetest.Behaviour]bool{
	enginetest.Keywords: true, enginetest.Aliases: true, enginetest.Unknown: true, enginetest.Forget: true,
	enginetest.Never: true, enginetest.Import: true, enginetest.Broken: true,
}

// recursive is a module whose entry calls itself: (func (export "toolrun_run") (result i32) call 1 i32.const 1
// i32.add). In Go the stack is in memory, and its end another one.
const recursive = "\x00asm\x01\x00\x00\x00" +
	"\x01\x08\x02\x60\x00\x00\x60\x00\x01\x7f" + "\x03\x03\x02\x00\x01" + "\x05\x03\x01\x00\x01" +
	"\x07\x28\x03\x06memory\x02\x00\x0dtoolrun_abi_1\x00\x00\x0btoolrun_run\x00\x01" +
	"\x0a\x0c\x02\x02\x00\x0b\x07\x00\x10\x01\x41\x01\x6a\x0b"

// buildPlugin compiles a command of testdata.
func buildPlugin(t testing.TB, name string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", file, "../engine/wasm/testdata/"+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
