package disttest_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
)

// A test of an engine reads the runtime from the file whose path File returns. If no runtime is
// available, File skips the test.
func ExampleFile() {
	_ = func(t *testing.T) {
		file := disttest.File(t)
		e := python.New(python.WithRuntime(func() ([]byte, error) { return os.ReadFile(file) }))
		defer e.Close()
	}
}

func TestFile(t *testing.T) {
	code, err := os.ReadFile(disttest.File(t))
	if err != nil || !bytes.HasPrefix(code, []byte("\x00asm")) {
		t.Errorf("the file is not WebAssembly: %d bytes, %v", len(code), err)
	}
}
