package engines

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python"
	"github.com/toolrun/toolrun/host/engine/python/distribution"
	"github.com/toolrun/toolrun/host/sandbox"
)

// interpreterBytes is added to the memory limit of a worker for idle instances of the interpreter.
// The kernel counts the whole memory and stack of an instance, even if a part was never touched.
const interpreterBytes = 288 << 20

// pythonLanguage returns Python for workers. One worker compiles the interpreter for all other
// workers. This worker never runs guests. Each other worker starts the compiled interpreter before
// its first run. If the pool has no folder for compiled code, Python is not available.
func pythonLanguage(c choices) sandbox.Language {
	file := c.python
	var files []string
	if file != "" {
		files = []string{file}
	}
	return sandbox.Language{
		Unsound:        unsound(runtime.GOARCH),
		MemoryFiles:    true,
		BeforeLockdown: python.Prepare,
		MemoryBytes:    python.DefaultMemoryBytes,
		ExtraBytes:     interpreterBytes,
		New: func(s sandbox.Setup) engine.Engine {
			source := python.WithRuntime(noCache)
			if s.CacheDir != "" {
				source = python.WithCompiled(s.CacheDir)
			}
			return python.New(source, python.WithPanicLog(s.Panicked))
		},
		Shared: &sandbox.Shared{Key: stateOf(file), Files: files, Prepare: compilePython, Start: startPython},
	}
}

// noCache returns the error that workers report if their pool cannot store compiled code.
func noCache() ([]byte, error) {
	return nil, abi.Faultf(abi.Unavailable, "Python tools require a folder for compiled code").
		WithHint("set sandbox.Options.CacheDir, or the environment variable HOME or XDG_CACHE_HOME for the toolrun command")
}

func compilePython(ctx context.Context, s sandbox.Setup) error {
	file := ""
	if len(s.Files) > 0 {
		file = s.Files[0]
	}
	code, err := readPython(file)
	if err != nil {
		return err
	}
	return python.Compile(ctx, code, s.CacheDir)
}

func startPython(ctx context.Context, e engine.Engine) {
	if p, ok := e.(*python.Engine); ok {
		p.Start(ctx)
	}
}

// stateOf returns a text that depends on the state of the file and on toolrun's version. If the
// file changes, the text changes. stateOf does not read the file.
func stateOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return file
	}
	if distribution.Holds(file) { // an installed interpreter is verified when it is read
		return fmt.Sprint(python.Version(), " ", distribution.SHA256)
	}
	return fmt.Sprint(python.Version(), " ", file, " ", info.Size(), " ", info.ModTime().UnixNano())
}

// readPython reads an interpreter. If the file is an installed interpreter, readPython verifies the
// content. If the file is another build, readPython does not verify the content.
func readPython(file string) ([]byte, error) {
	if file == "" {
		return nil, abi.Faultf(abi.Unavailable, "no Python runtime is installed").
			WithHint("run `toolrun python install`, or set --python-wasm FILE")
	}
	if distribution.Holds(file) {
		return distribution.Read(file)
	}
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxRuntimeBytes) {
		return nil, abi.Faultf(abi.Unavailable, "the Python runtime is not a regular file of at most %d bytes", maxRuntimeBytes)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, abi.Faultf(abi.Unavailable, "cannot read the Python runtime").
			WithHint("check that the file exists and is readable")
	}
	return code, nil
}

// maxRuntimeBytes is the maximum size of an interpreter's file. All builds of CPython are smaller.
const maxRuntimeBytes = 256 << 20
