package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// rewriteVersion is the version of the code that rewrites the interpreter's module before it is
// compiled, and is part of the cache key. Packages stackguard, fuel and snapshot contain that code.
// If you change the code, and the rewritten module changes, increment rewriteVersion.
const rewriteVersion = 3

// entryName returns the name of the cache entry for a compiled interpreter.
func entryName(code []byte) string {
	sum := sha256.Sum256(code)
	return fmt.Sprintf("python-%s-%d%s", hex.EncodeToString(sum[:]), rewriteVersion, codecache.Compiler())
}

// compileCached returns the compiled interpreter from the cache. If the cache does not contain the
// compiled interpreter, compileCached rewrites and compiles the interpreter. If the cache fails,
// compileCached ignores the error.
func compileCached(ctx context.Context, cache machine.Cache, code []byte) (*machine.Machine, error) {
	open := func(dir string) (*machine.Machine, error) { return machine.Open(ctx, dir, provide) }
	fill := func(dir string) (*machine.Machine, error) {
		rewritten, err := rewrite(code)
		if err != nil {
			return nil, err
		}
		return machine.Save(ctx, dir, rewritten, provide)
	}
	if m := cache.Get(entryName(code), open, fill); m != nil {
		return m, nil
	}
	rewritten, err := rewrite(code)
	if err != nil {
		return nil, err
	}
	m, err := machine.Compile(ctx, rewritten, provide)
	return m, compileError(err)
}
