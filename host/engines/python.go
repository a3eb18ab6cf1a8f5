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

// interpreterBytes is what a cell has for instances of the interpreter that wait to be used again, beside the one that
// runs: the kernel counts the whole memory of each, with its stack, and not what was touched.
const interpreterBytes = 288 << 20

// pythonLanguage is Python in cells: the interpreter is compiled in one that sees no guest, for all others to read, and
// started in each before there is something to do. Where nothing can be kept there is none.
func pythonLanguage(c choices) sandbox.Language {
	file := c.python
	var files []string
	if file != "" {
		files = []string{file}
	}
	return sandbox.Language{
		Unsound:     unsound(runtime.GOARCH),
		MemoryFiles: true,
		Prepare:     python.Prepare,
		MemoryBytes: python.DefaultMemoryBytes,
		ExtraBytes:  interpreterBytes,
		New: func(s sandbox.Setup) engine.Engine {
			source := python.WithRuntime(noCache)
			if s.CacheDir != "" {
				source = python.WithCompiled(s.CacheDir)
			}
			return python.New(source, python.WithPanicLog(s.Panicked))
		},
		Shared: &sandbox.Shared{Key: stateOf(file), Files: files, Make: compilePython, Start: startPython},
	}
}

// noCache answers in cells that have no compiled interpreter, since their pool has no place to keep it.
func noCache() ([]byte, error) {
	return nil, abi.Faultf(abi.Unavailable, "Python tools need a folder where compiled code is kept").
		WithHint("name one in cell.Options.CacheDir; the toolrun command needs HOME or XDG_CACHE_HOME")
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

// stateOf tells one state of a file from another without reading it, and what is made of it from what another version
// makes.
func stateOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return file
	}
	if distribution.Holds(file) { // whose every byte is checked when it is read, and which may be installed again
		return fmt.Sprint(python.Version(), " ", distribution.SHA256)
	}
	return fmt.Sprint(python.Version(), " ", file, " ", info.Size(), " ", info.ModTime().UnixNano())
}

// readPython reads an interpreter: an installed one, of which every byte is checked, or another build.
func readPython(file string) ([]byte, error) {
	if file == "" {
		return nil, abi.Faultf(abi.Unavailable, "there is no Python runtime to run it with").
			WithHint("toolrun python install gets one; --python-wasm FILE names one")
	}
	if distribution.Holds(file) {
		return distribution.Read(file)
	}
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxRuntimeBytes) {
		return nil, abi.Faultf(abi.Unavailable, "the Python runtime is no regular file of at most %d bytes", maxRuntimeBytes)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, abi.Faultf(abi.Unavailable, "the Python runtime cannot be read").
			WithHint("the file is missing, or this user may not read it")
	}
	return code, nil
}

// maxRuntimeBytes is more than any build of CPython has.
const maxRuntimeBytes = 256 << 20
