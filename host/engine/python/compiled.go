package python

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// Compile compiles an interpreter, which is CPython for WASI as WithRuntime gives it, into a folder, for WithCompiled, and
// starts it once: what it imports takes longest, and is kept as a picture of its memory. The secret of its hashes is in
// there. The folder is made with mode 0700 if there is none; it is to be empty, and holds nothing else afterwards. An
// interpreter that cannot be compiled is an *abi.Fault with code source_invalid.
func Compile(ctx context.Context, runtime []byte, dir string) error {
	code, err := rewrite(runtime)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("python: keep the interpreter: %w", err)
	}
	m, err := machine.Save(ctx, dir, code, provide)
	if err != nil {
		return fmt.Errorf("python: keep the interpreter: %w", compileError(err))
	}
	i := &interpreter{machine: m}
	if err = i.boot(ctx); err == nil && i.base != nil {
		err = i.save(dir)
	}
	if err == nil {
		err = codecache.Seal(dir)
	}
	return errors.Join(err, i.close())
}

// pictures is the version of how a picture is written, and of what starts the interpreter.
const pictures = 2

// Version names what Compile makes of an interpreter: WithCompiled reads what a program of the same Version has written.
func Version() string {
	sum := sha256.Sum256([]byte(bootProgram() + guestFiles()))
	return fmt.Sprintf("%d.%d.%x", rewriting, pictures, sum[:8])
}

// The files of the picture: the memory, and what there is beside.
const (
	memoryName  = "memory"
	pictureName = "picture"
)

// picture is what there is to the started interpreter beside its memory.
type picture struct {
	Saved snapshot.Saved `json:"saved"`
	At    place          `json:"at"`
}

// save writes the started interpreter to a folder.
func (i *interpreter) save(dir string) error {
	saved, err := i.base.Save(filepath.Join(dir, memoryName))
	if err != nil {
		return fmt.Errorf("python: keep the started interpreter: %w", err)
	}
	text, err := json.Marshal(picture{saved, i.at})
	if err != nil {
		return fmt.Errorf("python: keep the started interpreter: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, pictureName), text, 0o600)
}

// resume takes the started interpreter that save has written, if it can be used; where it cannot, the interpreter is to be
// started.
func (i *interpreter) resume(ctx context.Context, dir string) bool {
	var p picture
	text, err := os.ReadFile(filepath.Join(dir, pictureName))
	if err != nil || json.Unmarshal(text, &p) != nil {
		return false
	}
	base, err := i.machine.OpenImage(instances, filepath.Join(dir, memoryName), p.Saved)
	if err != nil {
		return false
	}
	i.base, i.at = base, p.At
	if i.answers(ctx) != nil {
		_ = base.Close(ctx)
		i.base = nil
		return false
	}
	i.machine.ReleaseModule() // of 17 MB
	return true
}

// openCompiled opens what Compile left in a folder.
func openCompiled(ctx context.Context, dir string) (*machine.Machine, error) {
	m, err := machine.OpenSealed(ctx, dir, provide)
	if err == nil {
		return m, nil
	}
	return nil, abi.Faultf(abi.Unavailable, "the compiled Python runtime is missing or damaged").WithHint("delete the cache of compiled code")
}

// Prepare opens what starting interpreters from pictures takes from the system. A process calls it before it gives up the
// right to open files; without it, runs are slower and pictures larger.
func Prepare() { snapshot.Prepare() }
