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

// Workers execute machine code. An engine has compiled this code. If a process can change the
// machine code, it can control the workers. Therefore a worker can write machine code only if it
// compiles a single source and runs no guest. The compiling worker writes the machine code to a
// temporary folder. After the compilation, the parent moves the folder. Only workers of the same
// domain can read the new location.

// attachCache sets the folder and the key under which the program's compiled code is cached. If the
// cache does not contain the code, attachCache lets a worker compile the code.
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

// attachShared sets the folder that contains the shared state of the program's language. If the
// state does not exist, attachShared prepares it. The result is the duration of the preparation.
// The program is not charged for the preparation.
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

// prepareTimeout limits the preparation of shared state. The preparation happens only once. On a
// slow machine, the compilation of an interpreter takes a minute.
const prepareTimeout = 10 * time.Minute

// detachedTimeout returns a context that has its own time limit. If ctx is canceled, the new
// context is canceled too. The deadline of ctx does not affect the new context.
func detachedTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled {
			cancel()
		}
	})
	return own, func() { stop(); cancel() }
}

// sharedFolder returns the folder that contains the shared state. If the state does not exist,
// sharedFolder prepares it. If the pool has no cache, sharedFolder returns "". The caller must hold
// the lock "preparing".
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

// The methods "folder" and "key" return the names under which the cache stores the shared state.
func (e *proxy) folder() string { return digest("language", e.info.Name) }

func (e *proxy) key() string {
	return digest("shared", build(), codecache.Compiler(), e.language.Shared.Key)
}

// Prepared reports whether the shared state of the language exists.
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
		return false // without a configured folder, other pools cannot use the state
	}
	_, err := os.Stat(filepath.Join(cache, e.folder(), e.key()))
	return err == nil
}

// copyFiles copies Shared.Files to a folder and returns the names of the copies. If a file cannot
// be read, the result contains its name too. Prepare later reports such a file as missing.
func copyFiles(folder string, files []string) (names []string, err error) {
	for i, file := range files {
		name := "file-" + strconv.Itoa(i)
		names = append(names, name)
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return nil, fmt.Errorf("copy language files: %w", err)
		}
	}
	return names, nil
}

// dropShared removes the shared state if it is damaged, and stops all idle and spare workers that
// use it. The next load of a program prepares the state again. The parent itself checks the state
// before it removes the state, because a worker that compiled a hostile source can report damage
// that does not exist.
func (e *proxy) dropShared(o mounts) (removed bool) {
	e.preparing.Lock()
	defer e.preparing.Unlock()
	if codecache.Whole(o.shared) {
		return false
	}
	if e.shared == o.shared && e.generation == o.generation {
		e.shared = ""
		e.generation++
		_ = os.RemoveAll(o.shared) // after an error, a later load detects the damage
	}
	e.pool.forgetSpares(o)
	return true
}

// cached returns the path of a cache entry. The arguments "folder" and "key" identify the entry. If
// the entry does not exist, the function "fill" writes it. If the pool has no cache, the result is
// "".
func (p *Pool) cached(folder, key string, fill func(fresh string) error) (string, error) {
	cache, err := p.cacheDir()
	folder = filepath.Join(cache, folder)
	final := filepath.Join(folder, key)
	if err == nil {
		err = errors.Join(codecache.Make(cache), codecache.Make(folder))
	}
	if err != nil {
		p.log.Warn("cannot store compiled code in the cache", "error", err)
		return "", nil
	}
	if _, err := os.Stat(final); err == nil {
		touch(final, time.Now())
		return final, nil
	}
	prune(cache, time.Now())
	if err := codecache.Make(folder); err != nil { // some process may have pruned the folder
		return "", nil
	}
	fresh, err := os.MkdirTemp(folder, "new-")
	if err != nil {
		p.log.Warn("cannot store compiled code in the cache", "error", err)
		return "", nil
	}
	defer os.RemoveAll(fresh)
	if err := fill(fresh); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(fresh, freshKey), final); err != nil {
		if _, err := os.Stat(final); err != nil { // or another process was faster
			return "", nil
		}
	}
	return final, nil
}

// cacheDir returns the folder of the code cache. If Options.CacheDir is empty, cacheDir creates a
// temporary folder. The folder exists as long as the pool.
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

// freshKey is the name of compiled code within a temporary folder.
const freshKey = "code"

// runJob starts a worker that performs one job. After the job, runJob stops the worker.
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
	w.kill() // the worker must not write files while the parent counts them
	_, _ = w.reap()
	return w.writes.exceeded()
}

// prepareIn lets a worker prepare the shared state of the language.
func (e *proxy) prepareIn(ctx context.Context, w *worker) error {
	doing, limit := "preparing the "+e.info.Name+" engine", max(prepareBytes, e.pool.options.LoadBytes)
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

// prepareBytes is the minimum memory limit of a worker that prepares shared state, and also limits
// the total size of the files that this worker writes. The limits can be high, because the
// preparation runs no untrusted code.
const prepareBytes = 2 << 30

// digest returns one hash of several texts.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d %s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
