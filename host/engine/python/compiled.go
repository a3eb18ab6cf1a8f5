package python

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// Compile compiles an interpreter, which is CPython for WASI as WithRuntime gives it, into a folder, for WithCompiled. The
// folder is made with mode 0700 if there is none; it is to be empty, and holds nothing else afterwards. An interpreter
// that cannot be compiled is an *abi.Fault with code source_invalid.
func Compile(ctx context.Context, runtime []byte, dir string) error {
	module, err := rewrite(runtime)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("python: keep the interpreter: %w", err)
	}
	m, err := compileInto(ctx, dir, module)
	if err != nil {
		return fmt.Errorf("python: keep the interpreter: %w", err)
	}
	return errors.Join(seal(dir), m.close())
}

// openCompiled opens what Compile left in a folder.
func openCompiled(ctx context.Context, dir string) (*machine, error) {
	if private(dir) == nil && whole(dir) {
		if m, err := open(ctx, dir); err == nil {
			return m, nil
		}
	}
	return nil, abi.Faultf(abi.SourceInvalid, "the compiled Python runtime is missing or damaged").WithHint("delete the cache of compiled code")
}

// Prepare opens what starting interpreters from pictures takes from the system. A process calls it before it gives up the
// right to open files; without it, runs are slower and pictures larger.
func Prepare() { snapshot.Prepare() }
