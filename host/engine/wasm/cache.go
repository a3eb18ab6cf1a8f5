package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// WithCache caches compiled plug-ins in a folder. The engine creates the folder with mode 0700 if
// the folder does not exist. The engine ignores the folder in three cases: the folder belongs to
// another user, other users can write to the folder, or the engine cannot write to the folder. Each
// version of a plug-in adds files to the folder. You can delete the files at any time.
func WithCache(dir string) Option {
	return func(e *Engine) { e.cache = machine.Cache{Dir: dir} }
}

// compile returns the compiled plug-in. If the cache does not contain the compiled plug-in, the
// method compiles it. If the cache fails, the method ignores the error.
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
