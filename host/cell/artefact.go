package cell

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// What an engine compiled is machine code that cells execute: whoever writes it could have others run it. So it is
// written by a cell that compiles one source and nothing else, into a folder of its own, which the parent moves to
// where cells of the same domain, and no others, may read it. No cell that a guest ran in writes.

// keep has the compiled code of the program made, if it is of the kind and not there yet.
func (p *program) keep(ctx context.Context) error {
	pool := p.engine.pool
	if !p.engine.artefacts || pool.options.CacheDir == "" {
		return nil
	}
	folder := filepath.Join(pool.options.CacheDir, digest("domain", p.source.Domain))
	if err := prepareFolders(pool.options.CacheDir, folder); err != nil {
		pool.log.Warn("compiled code is not kept", "error", err)
		return nil
	}
	key := digest("source", build(), p.engine.name, string(p.source.Code))
	if _, err := os.Stat(filepath.Join(folder, key)); err == nil {
		touch(filepath.Join(folder, key), time.Now())
		p.folder, p.key = folder, key
		return nil
	}
	prune(pool.options.CacheDir, time.Now())
	if err := prepareFolders(folder); err != nil { // which another process may have pruned
		return nil
	}
	fresh, err := os.MkdirTemp(folder, "new-")
	if err != nil {
		pool.log.Warn("compiled code is not kept", "error", err)
		return nil
	}
	defer os.RemoveAll(fresh)
	if err := p.compile(ctx, fresh); err != nil {
		return err
	}
	final := filepath.Join(folder, key)
	if err := os.Rename(filepath.Join(fresh, freshKey), final); err != nil {
		if _, err := os.Stat(final); err != nil { // else another process was faster, which is as good
			return nil
		}
	}
	p.folder, p.key = folder, key
	return nil
}

// freshKey is what compiled code is called in a folder where there is no other.
const freshKey = "code"

// compile has a cell that is there for nothing else compile the program into a folder.
func (p *program) compile(ctx context.Context, fresh string) error {
	pool := p.engine.pool
	if err := pool.enter(ctx); err != nil {
		return err
	}
	defer func() { <-pool.slots }()
	c, err := pool.start(fresh, true)
	if err != nil {
		return err
	}
	if err := pool.use(c); err != nil {
		return err
	}
	defer pool.drop(c)
	p.key = freshKey
	defer func() { p.key = "" }()
	return p.loadIn(ctx, c)
}

// digest names something by what it is made of.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d %s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

var errUnsafeFolder = errors.New("others may write to the folder of compiled code, or it is another user's")

// prepareFolders makes folders that are the user's alone, and refuses those that are not.
func prepareFolders(names ...string) error {
	for _, name := range names {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ours(info) {
			return errUnsafeFolder
		}
	}
	return nil
}
