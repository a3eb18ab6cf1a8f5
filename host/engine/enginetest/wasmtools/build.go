package wasmtools

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// commands is where the sources of the plug-ins are.
const commands = "github.com/toolrun/toolrun/host/engine/enginetest/wasmtools/testdata/"

var (
	built   = map[string][]byte{}
	builtMu sync.Mutex
)

// Build compiles a plug-in, once in a process: "suite", which has an entry for each behaviour, or "added", which calls
// an operation that the table does not have. It skips the test where the go command is missing. The code is shared, and
// must not be changed. It is safe for concurrent use.
func Build(t testing.TB, name string) []byte {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is missing, which builds the plug-ins")
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
