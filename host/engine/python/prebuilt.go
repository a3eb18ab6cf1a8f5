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

// Compile compiles an interpreter and writes the result to a folder. WithCompiled makes an engine
// use that folder. The interpreter is CPython for WASI, as in WithRuntime. Compile also starts the
// interpreter once and saves a snapshot of the interpreter's memory, because most of the start time
// is spent on imports. The snapshot contains the secret seed of the interpreter's hash function.
// The folder must be empty. If the folder does not exist, Compile creates it with mode 0700. If the
// interpreter cannot be compiled, the error is an *abi.Fault with the code source_invalid.
func Compile(ctx context.Context, runtime []byte, dir string) error {
	code, err := rewrite(runtime)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("python: save the interpreter: %w", err)
	}
	m, err := machine.Save(ctx, dir, code, provide)
	if err != nil {
		return fmt.Errorf("python: save the interpreter: %w", compileError(err))
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

// snapshotVersion is the version of the snapshot format and of the procedure that starts the
// interpreter.
const snapshotVersion = 3

// Version identifies the output format of Compile. A program can use a folder with WithCompiled if
// a program with the same Version has written the folder.
func Version() string {
	sum := sha256.Sum256([]byte(bootProgram() + guestFiles()))
	return fmt.Sprintf("%d.%d.%x", rewriteVersion, snapshotVersion, sum[:8])
}

// A saved snapshot consists of two files. One file contains the memory, and the other file contains
// the rest of the state.
const (
	memoryName = "memory"
	stateName  = "state"
)

// savedState is the state of a started interpreter, except the interpreter's memory.
type savedState struct {
	Saved snapshot.Saved `json:"saved"`
	Entry entryPoint     `json:"entry"`
}

// save writes the snapshot of the started interpreter to a folder.
func (i *interpreter) save(dir string) error {
	saved, err := i.base.Save(filepath.Join(dir, memoryName))
	if err != nil {
		return fmt.Errorf("python: save the started interpreter: %w", err)
	}
	text, err := json.Marshal(savedState{saved, i.entry})
	if err != nil {
		return fmt.Errorf("python: save the started interpreter: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, stateName), text, 0o600)
}

// resume loads the snapshot that the method "save" has written. If the snapshot cannot be used, the
// method returns false, and the caller must start the interpreter.
func (i *interpreter) resume(ctx context.Context, dir string) bool {
	var state savedState
	text, err := os.ReadFile(filepath.Join(dir, stateName))
	if err != nil || json.Unmarshal(text, &state) != nil {
		return false
	}
	base, err := i.machine.OpenImage(instances, filepath.Join(dir, memoryName), state.Saved)
	if err != nil {
		return false
	}
	i.base, i.entry = base, state.Entry
	if i.answers(ctx) != nil {
		_ = base.Close(ctx)
		i.base = nil
		return false
	}
	i.machine.ReleaseModule() // 17 MB
	return true
}

// openCompiled opens a folder that Compile has written.
func openCompiled(ctx context.Context, dir string) (*machine.Machine, error) {
	m, err := machine.OpenSealed(ctx, dir, provide)
	if err == nil {
		return m, nil
	}
	return nil, abi.Faultf(abi.Unavailable, "the compiled Python runtime is missing or damaged").WithHint("delete the folders `cells` and `plugins` in toolrun's cache folder, or sandbox.Options.CacheDir in a Go program, and retry")
}

// Prepare opens the system resources with which snapshots are restored. If a process drops the
// permission to open files, the process must call Prepare first. Otherwise, runs are slower and
// snapshots are larger.
func Prepare() { snapshot.Prepare() }
