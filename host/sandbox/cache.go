package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/codecache"
)

// What an engine compiled is machine code that workers execute: whoever writes it could have others run it. So it is
// written by a worker that compiles one source and nothing else, into a folder of its own, which the parent moves to
// where workers of the same domain, and no others, may read it. No worker that a guest ran in writes.

// equip finds out which compiled code of its own the workers of the program are to read, and has it made where it is not
// there yet.
func (p *program) attachCache(ctx context.Context) error {
	if !p.engine.language.CacheCode {
		return nil
	}
	folder, key := digest("domain", p.source.Domain), digest("source", build(), codecache.Compiler(), p.engine.info.Name, p.table.Key(), string(p.source.Code))
	entry, err := p.engine.pool.cached(folder, key, func(fresh string) error {
		return p.engine.pool.runJob(ctx, mounts{folder: fresh, memoryFiles: p.mounts.memoryFiles}, jobCompile, nil, func(w *worker) error {
			p.key = freshKey
			defer func() { p.key = "" }()
			return p.loadIn(ctx, w)
		})
	})
	if err == nil && entry != "" {
		p.mounts.folder, p.key = filepath.Dir(entry), filepath.Base(entry)
	}
	return err
}

// equipShared finds out what the workers of the program are to read that all programs of the language have in common, and has
// it made where it is not there yet. It returns how long that took, which is none of the program's time.
func (p *program) attachShared(ctx context.Context) (spent time.Duration, err error) {
	e := p.engine
	if e.language.Shared == nil {
		return 0, nil
	}
	began := time.Now()
	e.preparing.Lock()
	defer e.preparing.Unlock()
	ctx, cancel := detachedTimeout(ctx, prepareTimeout)
	defer cancel()
	shared, err := e.sharedFolder(ctx)
	if err == nil && shared != "" {
		p.mounts = mounts{language: e.info.Name, shared: shared, memoryFiles: e.language.MemoryFiles, generation: e.generation}
		e.pool.keepSpares(p.mounts)
	}
	return time.Since(began), err
}

// makeTimeout is how long making what a language shares may take. It is done once, and would be lost otherwise: a slow
// machine takes a minute to compile an interpreter.
const prepareTimeout = 10 * time.Minute

// patient is a context that ends at a time of its own, and not at the deadline of ctx; also where somebody cancels that.
func detachedTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled {
			cancel()
		}
	})
	return own, func() { stop(); cancel() }
}

// share returns the folder of what the language shares, and has it made where it is not there yet; "" where it cannot be
// kept. The caller holds making.
func (e *proxy) sharedFolder(ctx context.Context) (string, error) {
	if e.shared != "" {
		return e.shared, nil
	}
	shared := e.language.Shared
	var err error
	e.shared, err = e.pool.cached(e.folder(), e.key(), func(fresh string) error {
		o := mounts{folder: fresh, language: e.info.Name, memoryFiles: e.language.MemoryFiles}
		files, err := copyFiles(fresh, shared.Files)
		if err != nil {
			return hostFault(e.pool.log, err)
		}
		err = e.pool.runJob(ctx, o, jobPrepare, files, func(w *worker) error { return e.prepareIn(ctx, w) })
		if err == nil {
			err = codecache.Seal(filepath.Join(fresh, freshKey))
		}
		return err
	})
	return e.shared, err
}

// folder and key name where what the language shares is kept.
func (e *proxy) folder() string { return digest("language", e.info.Name) }

func (e *proxy) key() string {
	return digest("shared", build(), codecache.Compiler(), e.language.Shared.Key)
}

// Prepared reports whether what the language shares is there.
func (e *proxy) Prepared() bool {
	if e.language.Shared == nil {
		return true
	}
	if !e.preparing.TryLock() {
		return false
	}
	defer e.preparing.Unlock()
	if e.shared != "" {
		return true
	}
	cache := e.pool.options.CacheDir
	if cache == "" {
		return false // it is made for this pool alone
	}
	_, err := os.Stat(filepath.Join(cache, e.folder(), e.key()))
	return err == nil
}

// copyFiles puts what a language's Shared is made of into a folder, and returns the names there. One that cannot be read
// is named all the same: it is missing there, which is for Make to say.
func copyFiles(folder string, files []string) (names []string, err error) {
	for i, file := range files {
		name := "file-" + strconv.Itoa(i)
		names = append(names, name)
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return nil, fmt.Errorf("copy what a language is made of: %w", err)
		}
	}
	return names, nil
}

// unshare removes what the language shares where it is damaged, and the workers that wait with it: none may read what will
// lie in its place. That it cannot be used is a claim of a worker that may have compiled a stranger's source, so the parent
// looks itself.
func (e *proxy) dropShared(o mounts) (removed bool) {
	e.preparing.Lock()
	defer e.preparing.Unlock()
	if codecache.Whole(o.shared) {
		return false
	}
	if e.shared == o.shared && e.generation == o.generation {
		e.shared = ""
		e.generation++
		_ = os.RemoveAll(o.shared) // where that fails, it is found damaged again
	}
	e.pool.forgetSpares(o)
	return true
}

// keep returns a folder of the cache that holds what fill made, by the names of the folder that it is in and its own. It
// is "" where nothing can be kept.
func (p *Pool) cached(folder, key string, fill func(fresh string) error) (string, error) {
	cache, err := p.cacheDir()
	folder = filepath.Join(cache, folder)
	final := filepath.Join(folder, key)
	if err == nil {
		err = errors.Join(codecache.Make(cache), codecache.Make(folder))
	}
	if err != nil {
		p.log.Warn("compiled code is not kept", "error", err)
		return "", nil
	}
	if _, err := os.Stat(final); err == nil {
		touch(final, time.Now())
		return final, nil
	}
	prune(cache, time.Now())
	if err := codecache.Make(folder); err != nil { // which has just been pruned, or another process did
		return "", nil
	}
	fresh, err := os.MkdirTemp(folder, "new-")
	if err != nil {
		p.log.Warn("compiled code is not kept", "error", err)
		return "", nil
	}
	defer os.RemoveAll(fresh)
	if err := fill(fresh); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(fresh, freshKey), final); err != nil {
		if _, err := os.Stat(final); err != nil { // else another process was faster, which is as good
			return "", nil
		}
	}
	return final, nil
}

// cacheDir is where compiled code is kept: a folder for as long as the pool is open, where none is named.
func (p *Pool) cacheDir() (string, error) {
	if p.options.CacheDir != "" {
		return p.options.CacheDir, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.temporary == "" && !p.closed {
		var err error
		if p.temporary, err = os.MkdirTemp("", "toolrun-"); err != nil {
			return "", err
		}
	}
	return p.temporary, nil
}

// freshKey is what compiled code is called in a folder where there is no other.
const freshKey = "code"

// once has a worker do one thing that is there for nothing else.
func (p *Pool) runJob(ctx context.Context, o mounts, job uint64, files []string, do func(*worker) error) error {
	if err := p.acquireSlot(ctx); err != nil {
		return err
	}
	defer func() { <-p.slots }()
	w, err := p.start(o, job, files...)
	if err != nil {
		return err
	}
	if err := p.markBusy(w); err != nil {
		return err
	}
	defer p.stopBusy(w)
	w.writes = &writeLimit{folder: o.folder, bytes: maxWrittenBytes, files: maxWrittenFiles}
	if job == jobPrepare {
		w.writes.bytes, w.writes.files = prepareBytes, maxSharedEntries
	}
	if err := do(w); err != nil {
		return err
	}
	w.kill() // so that nothing is added to what is looked at
	_, _ = w.reap()
	return w.writes.exceeded()
}

// makeIn has a worker make what the language shares.
func (e *proxy) prepareIn(ctx context.Context, w *worker) error {
	doing, limit := "making what "+e.info.Name+" tools share", max(prepareBytes, e.pool.options.LoadBytes)
	if err := w.limit(limit); err != nil {
		return e.pool.workerDied(w)
	}
	g := startWatchdog(ctx, w, doing, budget{memory: limit, writes: w.writes})
	failed, err := (*abi.Fault)(nil), w.wire.send(w.wire.frame(kindPrepare))
	if err == nil {
		var f *fields
		if _, f, err = w.wire.receive(&loadSizes); err == nil {
			failed, _, err = readLoaded(f)
		}
	}
	_, reason := g.done()
	if err != nil {
		return exit{cause: err, reason: reason, limit: limit, doing: doing, closed: e.pool.isClosed()}.fault(w, e.pool.log)
	}
	if reason != nil {
		return reason
	}
	if failed != nil {
		return failed
	}
	return nil
}

// sharedBytes bounds the memory that making what a language shares takes at least: no stranger has a hand in it.
const prepareBytes = 2 << 30

// digest names something by what it is made of.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d %s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
