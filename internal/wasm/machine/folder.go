package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// moduleName is the name of the file that contains the rewritten module. wazero's own files are in
// the same folder.
const moduleName = "module"

// ErrDamaged is the error for a folder that is missing, is not private to the user, was never
// sealed, or has changed since it was sealed.
var ErrDamaged = errors.New("the folder of compiled code is missing or damaged")

// Save compiles restorable code into a folder that Open can read. The caller must seal the folder
// when it is complete.
func Save(ctx context.Context, dir string, code Code, imports Imports) (*Machine, error) {
	if code.Restorable == nil {
		return nil, fmt.Errorf("save machine: %w", code.NotRestorable)
	}
	text, err := code.Restorable.MarshalBinary()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, moduleName), text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("save machine: %w", err)
	}
	return CompileIn(ctx, dir, code, imports)
}

// Open opens a machine that Save has stored in a folder. The folder must be sealed and private,
// because its content is trusted.
func Open(ctx context.Context, dir string, imports Imports) (*Machine, error) {
	text, err := os.ReadFile(filepath.Join(dir, moduleName))
	if err != nil {
		return nil, fmt.Errorf("open machine: %w", err)
	}
	module := new(snapshot.Module)
	if err := module.UnmarshalBinary(text); err != nil {
		return nil, fmt.Errorf("open machine: %w", err)
	}
	return CompileIn(ctx, dir, Code{Binary: module.Binary, Restorable: module}, imports)
}

// OpenSealed is like Open, but first checks the seal of the folder. If the folder has changed, the
// error is ErrDamaged.
func OpenSealed(ctx context.Context, dir string, imports Imports) (*Machine, error) {
	if codecache.Private(dir) != nil || !codecache.Whole(dir) {
		return nil, ErrDamaged
	}
	return Open(ctx, dir, imports)
}

// Cache is a folder that stores machines, each in a subfolder. If another user could write machine
// code to the folder, the code would run as the user of this process. A folder that is not private
// to this user is therefore not used. The zero Cache stores nothing.
type Cache struct{ Dir string }

// Get returns the machine that is stored under a name. The function "open" opens the machine's
// folder. If the folder is missing or damaged, the function "fill" creates the machine in a
// temporary folder. The temporary folder is renamed when it is complete, so other processes never
// find an incomplete folder. Get returns nil if the cache cannot be used or fill fails. The caller
// of Get then compiles without the cache.
func (c Cache) Get(name string, open, fill func(dir string) (*Machine, error)) *Machine {
	if codecache.Make(c.Dir) != nil {
		return nil
	}
	final := c.path(name)
	if codecache.Whole(final) { // wazero trusts the counts in its files, so the seal must be intact
		if m, err := open(final); err == nil {
			return m
		}
	}
	if os.RemoveAll(final) != nil { // without the folder, the cache cannot be used
		return nil
	}
	fresh, err := os.MkdirTemp(c.Dir, "new-")
	if err != nil {
		return nil
	}
	m, err := fill(fresh)
	if err == nil {
		err = codecache.Seal(fresh)
	}
	if err != nil || os.Rename(fresh, final) != nil { // if another process was faster, its folder is used
		_ = os.RemoveAll(fresh)
	}
	return m
}

// Has reports whether there is a folder with the given name. The folder with this name may be
// damaged.
func (c Cache) Has(name string) bool {
	if c.Dir == "" {
		return false
	}
	_, err := os.Stat(c.path(name))
	return err == nil
}

func (c Cache) path(name string) string { return filepath.Join(c.Dir, name) }
