package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// cache keeps the interpreter in a folder: as it was rewritten, and as machine code, which whoever can write there could
// have the host execute. So the folder is the user's alone, or it is not used.
type cache struct{ dir string }

// rewriting is the version of what is done to the interpreter before it is compiled. It is part of the key: who changes
// what packages stackguard, fuel and snapshot write raises it.
const rewriting = 2

// compile rewrites and compiles the interpreter, or takes the result of an earlier time. Whatever is wrong with the
// cache, an error is the interpreter's own.
func (c cache) compile(ctx context.Context, code []byte) (*machine, error) {
	if codecache.Make(c.dir) == nil {
		if m := c.lookUp(ctx, code); m != nil {
			return m, nil
		}
	}
	module, err := rewrite(code)
	if err != nil {
		return nil, err
	}
	return compileWith(ctx, wazero.NewCompilationCache(), module)
}

// lookUp takes an entry or makes one; nil where it can do neither.
func (c cache) lookUp(ctx context.Context, code []byte) *machine {
	final := c.entry(code)
	if codecache.Whole(final) {
		if m, err := open(ctx, final); err == nil {
			return m
		}
	}
	if os.RemoveAll(final) != nil { // what lies there cannot be used
		return nil
	}
	return c.fill(ctx, final, code)
}

// entry is where an interpreter is kept.
func (c cache) entry(code []byte) string {
	sum := sha256.Sum256(code)
	return filepath.Join(c.dir, fmt.Sprintf("python-%s-%d%s", hex.EncodeToString(sum[:]), rewriting, codecache.Compiler()))
}

// fill compiles into a fresh folder, which gets its name when it is complete: nobody finds a part of one.
func (c cache) fill(ctx context.Context, final string, code []byte) *machine {
	module, err := rewrite(code)
	if err != nil {
		return nil
	}
	fresh, err := os.MkdirTemp(c.dir, "new-")
	if err != nil {
		return nil
	}
	m, err := compileInto(ctx, fresh, module)
	if err == nil {
		err = codecache.Seal(fresh)
	}
	if err != nil || os.Rename(fresh, final) != nil { // where another process was faster, that is as good
		_ = os.RemoveAll(fresh)
	}
	return m
}

// moduleName is the file of an entry, beside those of wazero, that holds the module as it was rewritten.
const moduleName = "module"

// compileInto compiles a module and writes an entry.
func compileInto(ctx context.Context, dir string, module *snapshot.Module) (*machine, error) {
	text, err := module.MarshalBinary()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, moduleName), text, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return compileAt(ctx, dir, module)
}

// open reads an entry.
func open(ctx context.Context, dir string) (*machine, error) {
	text, err := os.ReadFile(filepath.Join(dir, moduleName))
	if err != nil {
		return nil, err
	}
	module := new(snapshot.Module)
	if err := module.UnmarshalBinary(text); err != nil {
		return nil, err
	}
	return compileAt(ctx, dir, module)
}

func compileAt(ctx context.Context, dir string, module *snapshot.Module) (*machine, error) {
	files, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	return compileWith(ctx, files, module)
}
