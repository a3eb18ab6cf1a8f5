package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// WithCache keeps compiled plug-ins in a folder, which is made with mode 0700 if there is none. One that others
// may write to, or that is another user's, is not used, nor is one that cannot be written. It grows with each
// plug-in, and with each version of one; all of it may be deleted at any time.
func WithCache(dir string) Option {
	return func(e *Engine) { e.cache = machine.Cache{Dir: dir} }
}

// compile compiles a plug-in, or takes the result of an earlier time from the cache. Errors of the cache are not reported.
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
