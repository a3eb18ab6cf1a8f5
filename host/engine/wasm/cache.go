package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// WithCache caches compiled plug-ins in a folder. The engine creates the folder with mode 0700 if
// the folder does not exist. The engine does not use a folder that is not writable, that other
// users can write to, or that belongs to another user. Each version of each plug-in adds files to
// the cache. You can delete the cache at any time.
func WithCache(dir string) Option {
	return func(e *Engine) { e.cache = machine.Cache{Dir: dir} }
}

// compile returns a compiled plug-in from the cache, or compiles the plug-in. compile ignores
// errors of the cache.
func (p *plugin) compile(ctx context.Context, code machine.Code) (*machine.Machine, error) {
	compileIn := func(dir string) (*machine.Machine, error) { return machine.CompileIn(ctx, dir, code, p.provide) }
	if m := p.engine.cache.Get(hash(code.Binary), compileIn, compileIn); m != nil {
		return m, nil
	}
	return machine.Compile(ctx, code, p.provide)
}

func hash(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}
