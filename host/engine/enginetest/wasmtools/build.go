package wasmtools

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// commands is the import path of the folder that contains the commands of the plug-ins.
const commands = "github.com/toolrun/toolrun/host/engine/enginetest/wasmtools/testdata/"

var (
	built   = map[string][]byte{}
	builtMu sync.Mutex
)

// Build compiles a plug-in. Each process compiles the plug-in only once. The plug-in "suite" has an
// entry for each Behaviour. The plug-in "added" calls an operation that the table does not contain.
// If the go command is missing, Build skips the test. All callers share the returned code, so it
// must not be modified. Build is safe for concurrent use.
func Build(t testing.TB, name string) []byte {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command, which builds the plug-ins, is missing")
	}
	builtMu.Lock()
	defer builtMu.Unlock()
	if code, ok := built[name]; ok {
		return code
	}
	file := filepath.Join(t.TempDir(), name+".wasm")
	cmd := exec.Command(goCommand, "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", file, commands+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the plug-in %s: %v\n%s", name, err, out)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	built[name] = code
	return code
}
