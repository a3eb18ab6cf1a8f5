package disttest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine/python/distribution"
)

// Variable is the name of an environment variable that contains the path of the runtime. If the
// runtime is not installed in the usual folder, set the environment variable.
const Variable = "TOOLRUN_PYTHON_WASM"

// File returns the path of the runtime. If no runtime is available, File skips the test. File is
// safe for concurrent use.
func File(t testing.TB) string {
	t.Helper()
	file, err := installed()
	if err != nil {
		t.Skipf("the Python runtime is not installed and npm cannot fetch it (set %s to its path): %v", Variable, err)
	}
	return file
}

// installed searches for the runtime in the folder that the toolrun command uses. If the folder
// does not contain the runtime, the function installs the runtime in this folder.
var installed = sync.OnceValues(func() (string, error) {
	if file := os.Getenv(Variable); file != "" {
		return filepath.Abs(file)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "toolrun")
	if file, ok := distribution.Find(dir); ok {
		return file, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return distribution.Install(ctx, dir, nil)
})
