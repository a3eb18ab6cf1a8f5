package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/toolrun/toolrun/internal/codecache"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// rewriting is the version of what is done to the interpreter before it is compiled. It is part of the key: who changes
// what packages stackguard, fuel and snapshot write raises it.
const rewriting = 3

// entryName names an interpreter in the cache.
func entryName(code []byte) string {
	sum := sha256.Sum256(code)
	return fmt.Sprintf("python-%s-%d%s", hex.EncodeToString(sum[:]), rewriting, codecache.Compiler())
}

// compileCached rewrites and compiles the interpreter, or takes the result of an earlier time from the cache. Errors of the
// cache are not reported.
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
