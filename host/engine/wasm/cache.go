package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/toolrun/toolrun/internal/codecache"
)

// cache keeps compiled plug-ins in a folder, each in one of its own. They are machine code, which whoever can write
// there could have the host execute: the folder is the user's alone, or it is not used.
type cache struct{ dir string }

// WithCache keeps compiled plug-ins in a folder, which is made with mode 0700 if there is none. One that others
// may write to, or that is another user's, is not used, nor is one that cannot be written. It grows with each
// plug-in, and with each version of one; all of it may be deleted at any time.
func WithCache(dir string) Option {
	return func(e *Engine) { e.cache = cache{dir} }
}

// compile compiles a plug-in in a runtime that it makes, or takes the result of an earlier time. Whatever is wrong
// with the cache, an error is the plug-in's own.
func (c cache) compile(ctx context.Context, code []byte) (*machine, error) {
	if codecache.Make(c.dir) == nil {
		if m := c.lookUp(ctx, code); m != nil {
			return m, nil
		}
	}
	return compileIn(ctx, wazero.NewCompilationCache(), code)
}

// lookUp takes an entry or makes one; nil where it can do neither.
func (c cache) lookUp(ctx context.Context, code []byte) *machine {
	final := filepath.Join(c.dir, hash(code))
	if codecache.Whole(final) { // wazero trusts the counts in its files
		if m, err := compileInFolder(ctx, final, code); err == nil {
			return m
		}
	}
	if os.RemoveAll(final) != nil { // what lies there cannot be used
		return nil
	}
	return c.fill(ctx, final, code)
}

// fill compiles into a fresh folder, which gets its name when it is complete: nobody finds a part of one.
func (c cache) fill(ctx context.Context, final string, code []byte) *machine {
	fresh, err := os.MkdirTemp(c.dir, "new-")
	if err != nil {
		return nil
	}
	m, err := compileInFolder(ctx, fresh, code)
	if err == nil {
		err = codecache.Seal(fresh)
	}
	if err != nil || os.Rename(fresh, final) != nil { // where another process was faster, that is as good
		_ = os.RemoveAll(fresh)
	}
	return m
}

func compileInFolder(ctx context.Context, dir string, code []byte) (*machine, error) {
	files, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	return compileIn(ctx, files, code)
}

// machine is a runtime with one compiled plug-in.
type machine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	files   wazero.CompilationCache
}

// features are those of WebAssembly 2.0 and extended constant expressions. Package binary refuses all others.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst

// compileIn compiles in a new runtime, which owns files from then on.
func compileIn(ctx context.Context, files wazero.CompilationCache, code []byte) (*machine, error) {
	m := &machine{runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(features).WithCompilationCache(files)), files: files}
	var err error
	if m.module, err = m.runtime.CompileModule(ctx, code); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *machine) close() error {
	ctx := context.Background()
	return errors.Join(m.runtime.Close(ctx), m.files.Close(ctx))
}

func hash(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}
