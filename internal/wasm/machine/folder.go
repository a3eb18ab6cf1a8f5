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

// moduleName is the file of a folder, besides those of wazero, that holds the rewritten module.
const moduleName = "module"

// ErrDamaged is the error of a folder that was not sealed, changed since then, or is not private to
// the user.
var ErrDamaged = errors.New("the folder of compiled code is missing or damaged")

// Save compiles restorable code into a folder, with all that Open needs. The caller seals the
// folder when it is complete.
func Save(ctx context.Context, dir string, code Code, imports Imports) (*Machine, error) {
	if code.Restorable == nil {
		return nil, fmt.Errorf("save a machine: %w", code.NotRestorable)
	}
	text, err := code.Restorable.MarshalBinary()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, moduleName), text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("save a machine: %w", err)
	}
	return CompileIn(ctx, dir, code, imports)
}

// Open returns the machine that Save left in a folder. The folder is trusted: it is sealed and
// private.
func Open(ctx context.Context, dir string, imports Imports) (*Machine, error) {
	text, err := os.ReadFile(filepath.Join(dir, moduleName))
	if err != nil {
		return nil, fmt.Errorf("open a machine: %w", err)
	}
	module := new(snapshot.Module)
	if err := module.UnmarshalBinary(text); err != nil {
		return nil, fmt.Errorf("open a machine: %w", err)
	}
	return CompileIn(ctx, dir, Code{Binary: module.Binary, Restorable: module}, imports)
}

// OpenSealed is like Open, for a folder that is not trusted yet. The error is ErrDamaged if it is
// not as it was sealed.
func OpenSealed(ctx context.Context, dir string, imports Imports) (*Machine, error) {
	if codecache.Private(dir) != nil || !codecache.Whole(dir) {
		return nil, ErrDamaged
	}
	return Open(ctx, dir, imports)
}

// Cache is a folder that keeps machines, each in a folder of its own. Machine code that another
// user could write there would run as this one, so a folder that is not private to the user is not
// used. The zero value keeps nothing.
type Cache struct{ Dir string }

// Get returns the machine that is kept under a name: open opens its folder. If there is none or it
// is damaged, fill makes the machine in a fresh folder, which gets the name when it is complete, so
// that no process finds a part of it. Get returns nil if the cache cannot be used or fill fails;
// the caller then compiles without it.
func (c Cache) Get(name string, open, fill func(dir string) (*Machine, error)) *Machine {
	if codecache.Make(c.Dir) != nil {
		return nil
	}
	final := c.path(name)
	if codecache.Whole(final) { // wazero trusts the counts in its files
		if m, err := open(final); err == nil {
			return m
		}
	}
	if os.RemoveAll(final) != nil { // it cannot be used
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
	if err != nil || os.Rename(fresh, final) != nil { // if another process was faster, its folder is as good
		_ = os.RemoveAll(fresh)
	}
	return m
}

// Has reports whether there is a folder under a name, which may be damaged.
func (c Cache) Has(name string) bool {
	if c.Dir == "" {
		return false
	}
	_, err := os.Stat(c.path(name))
	return err == nil
}

func (c Cache) path(name string) string { return filepath.Join(c.Dir, name) }
