package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// proxy is an engine that runs its guests in workers.
type proxy struct {
	pool     *Pool
	language Language
	info     engine.Info

	preparing  sync.Mutex // locked during the preparation of shared state
	shared     string     // the folder of the shared state; "" before its preparation
	generation int        // how many times the shared state was replaced
}

var (
	_ engine.Engine          = (*proxy)(nil)
	_ engine.Isolated        = (*proxy)(nil)
	_ engine.MemoryDefaulter = (*proxy)(nil)

	_ engine.Preparer = (*proxy)(nil)

	_ engine.Warmer = (*program)(nil)

	_ engine.Reviewer = (*program)(nil)
)

// Isolated returns true, because guests run in workers.
func (e *proxy) Isolated() bool { return true }

// MemoryBytes returns the default memory limit of the language.
func (e *proxy) MemoryBytes() int64 { return cmp.Or(e.language.MemoryBytes, engine.DefaultMemoryBytes) }

func (e *proxy) Info() engine.Info { return e.info }

// Load compiles the source in a worker. The first run of the program uses the worker that compiled
// the source.
func (e *proxy) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	if e.language.Unsound != "" && len(e.pool.options.Require) > 0 {
		return nil, abi.Faultf(abi.Unavailable, "%s tools cannot be isolated: %s", e.info.Name, e.language.Unsound).
			WithHint("use another machine, or do not require isolation")
	}
	p := &program{engine: e, id: e.pool.programs.Add(1), source: src, table: src.Table(), files: newArchive(src.Files, e.pool.readable), closing: make(chan struct{})}
	p.mounts.memoryFiles = e.language.MemoryFiles
	err := p.compile(ctx)
	// If the fault comes from the engine and not from the pool, the reason can be damaged shared
	// state on the disk. The engine prepares damaged state again. The engine prepares damaged state
	// only once.
	if f, ok := err.(*abi.Fault); ok && f.Code == abi.Unavailable && p.mounts.shared != "" && ctx.Err() == nil && e.dropShared(p.mounts) {
		err = p.compile(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.files.seal()
	return p, nil
}

// compile compiles the program. compile also prepares everything that the program requires.
func (p *program) compile(ctx context.Context) error {
	spent, err := p.attachShared(ctx)
	if err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && spent > 0 {
		later, cancel := detachedTimeout(ctx, time.Until(deadline)+spent)
		defer cancel()
		ctx = later
	}
	if err := p.attachCache(ctx); err != nil {
		return err
	}
	return p.within(ctx, nil, func(*worker) error { return nil })
}

// These constants are the limits of a source.
const (
	maxSourceBytes = 64 << 20
	maxNameBytes   = 4 << 10
	maxParams      = 10_000
)

func checkSource(src engine.Source) error {
	size := len(src.Code)
	for _, name := range src.Params {
		size += len(name)
	}
	switch {
	case size > maxSourceBytes:
		return abi.Faultf(abi.SourceInvalid, "the source has %d bytes, including the names of its parameters; the limit is %d", size, maxSourceBytes)
	case len(src.Params) > maxParams:
		return abi.Faultf(abi.SourceInvalid, "the source has %d parameters; the limit is %d", len(src.Params), maxParams)
	case len(src.Path) > maxNameBytes:
		return abi.Faultf(abi.SourceInvalid, "the path of the source has %d bytes; the limit is %d", len(src.Path), maxNameBytes)
	case len(src.Entry) > maxNameBytes:
		return abi.Faultf(abi.SourceInvalid, "the name of the entry has %d bytes; the limit is %d", len(src.Entry), maxNameBytes)
	}
	return nil
}

// A program is a source that at least one worker has compiled. If another worker runs the program
// for the first time, this worker first compiles the source.
type program struct {
	engine *proxy
	id     uint64
	source engine.Source
	table  abi.Table // the operations that the guest is allowed to call
	files  *archive
	mounts mounts
	review atomic.Pointer[engine.Review]
	key    string // the key of the compiled code in mounts.folder; "" without cached code

	open    engine.Inflight
	closing chan struct{} // the first call of Close closes this channel
	closed  atomic.Bool
}

var errClosed = errors.New("sandbox: the program is closed")

// Run executes the tool once. Run uses a worker of the run's domain.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (out engine.Output, err error) {
	if !p.open.Enter() {
		return engine.Output{}, errClosed
	}
	defer p.open.Leave()
	if ctx.Err() != nil {
		return engine.Output{}, engine.FaultFromContext(ctx)
	}
	if len(in.Input)+len(in.Context) > maxRunBytes {
		return engine.Output{}, abi.Faultf(abi.TooLarge, "the input and the context together exceed %d bytes", maxRunBytes)
	}
	err = p.within(ctx, &in.Domain, func(w *worker) error {
		out, err = p.runIn(ctx, w, in, host)
		return err
	})
	return out, err
}

// within calls the function "do" with a worker. The worker has already compiled the program. If the
// worker died while it was idle, within tries another worker, because the tool has not run yet.
func (p *program) within(ctx context.Context, domain *string, do func(*worker) error) error {
	for range maxTries {
		w, err := p.engine.pool.acquire(ctx, p, domain)
		if err != nil {
			return err
		}
		if !w.programs[p] {
			if err = p.loadFor(ctx, w, domain); err == errDetached {
				return engine.FaultFromContext(ctx)
			}
		}
		if err == nil {
			err = do(w)
		}
		p.engine.pool.release(w)
		if err != errWorkerDied {
			return err
		}
	}
	return unavailable("worker processes exited before they started the run; see the host's log")
}

// errDetached means that a run ended before its worker was ready.
var errDetached = errors.New("sandbox: the run ended before its worker was ready")

// loadFor lets a worker compile the source. If the run ends before the compilation, the compilation
// continues. The next run then uses the worker.
func (p *program) loadFor(ctx context.Context, w *worker, domain *string) error {
	if domain == nil || ctx.Done() == nil || !p.open.Enter() { // keeps the program open
		return p.loadIn(ctx, w)
	}
	pool := p.engine.pool
	var detached atomic.Bool
	loaded := make(chan error, 1)
	pool.background.Go(func() {
		defer p.open.Leave()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pool.options.LoadTimeout)
		defer cancel()
		go func() {
			select {
			case <-p.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		err := p.loadIn(ctx, w)
		if detached.Swap(true) {
			pool.release(w)
			return
		}
		loaded <- err
	})
	select {
	case err := <-loaded:
		return err
	case <-ctx.Done():
	}
	if detached.Swap(true) { // another run has already loaded the source
		return <-loaded
	}
	return errDetached
}

// IsWarm reports whether an idle worker can run the program for a domain. If no slot is free,
// IsWarm also returns true, because no worker can be prepared.
func (p *program) IsWarm(domain string) bool { return p.engine.pool.isReady(p, domain) }

// Warm prepares a worker that can run the program for a domain.
func (p *program) Warm(ctx context.Context, domain string) error {
	if !p.open.Enter() {
		return errClosed
	}
	defer p.open.Leave()
	return p.within(ctx, &domain, func(*worker) error { return nil })
}

// maxTries is the maximum number of workers that are tried for one run, because workers can die
// while they are idle. If maxTries workers have died, a further worker would probably die too.
const maxTries = 10

// errWorkerDied is the error of a request to a worker that had already died before the request.
var errWorkerDied = errors.New("sandbox: the worker died while idle")

// runIn executes the tool in a worker. The worker has already compiled the tool.
func (p *program) runIn(ctx context.Context, w *worker, in engine.Input, host engine.Host) (engine.Output, error) {
	in.Limits.MemoryBytes = cmp.Or(in.Limits.MemoryBytes, p.engine.MemoryBytes())
	limits := in.Limits.WithDefaults()
	if deadline, ok := ctx.Deadline(); ok && limits.CPU == 0 {
		limits.CPU = maxProcs * max(time.Until(deadline), time.Millisecond)
	}
	if err := w.limit(limits.MemoryBytes + p.engine.language.ExtraBytes); err != nil {
		return engine.Output{}, p.engine.pool.workerDied(w)
	}
	w.runs++
	x := &exchange{ctx: ctx, worker: w, host: host, limits: limits, table: p.table, external: externalExchange{pool: p.engine.pool}, watchdog: startWatchdog(ctx, w, "the run", budget{cpu: limits.CPU, memory: limits.MemoryBytes})}
	err := x.sendRun(p.id, in)
	out, lost, unsent := engine.Output{}, err != nil, brokenPipe(err)
	if !lost {
		out, err, lost = x.serve()
	}
	used, reason := x.watchdog.done()
	exited := unsent || lost && w.diedIdle(err)
	out.CPU = used
	if x.halted != nil {
		reason = x.halted
	}
	if exited && reason == nil {
		return out, p.engine.pool.workerDied(w)
	}
	if lost {
		return out, exit{cause: err, reason: reason, limit: limits.MemoryBytes, doing: "the run", closed: p.engine.pool.isClosed()}.fault(w, p.engine.pool.log)
	}
	if over := x.watchdog.exceeded(); over != nil && x.halted == nil {
		w.kill()
		return out, over
	}
	if x.halted == nil && errors.Is(err, abi.Internal) { // the engine has a bug
		_ = exit{cause: err, doing: "the run"}.fault(w, p.engine.pool.log)
	}
	return out, err
}

// loadSizes contains the frame size limits while a worker compiles.
var loadSizes = sizes{kindOpen: maxNameBytes, kindLoaded: maxFaultBytes}

// loadIn lets a given worker compile the source.
func (p *program) loadIn(ctx context.Context, w *worker) error {
	limit := p.engine.pool.options.LoadBytes
	if err := w.limit(limit); err != nil {
		return p.engine.pool.workerDied(w)
	}
	g := startWatchdog(ctx, w, "compiling the tool", budget{memory: limit, writes: w.writes})
	failed, exited, err := p.exchangeLoad(w)
	_, reason := g.done()
	exited = exited || err != nil && w.diedIdle(err)
	if exited && reason == nil {
		return p.engine.pool.workerDied(w)
	}
	if tooMany, ok := err.(*abi.Fault); ok && reason == nil {
		reason = tooMany
	}
	if err != nil {
		return exit{cause: err, reason: reason, limit: limit, doing: "compiling the tool", closed: p.engine.pool.isClosed()}.fault(w, p.engine.pool.log)
	}
	if over := g.exceeded(); over != nil || reason != nil {
		w.kill()
		return cmp.Or(reason, over)
	}
	if failed != nil {
		if failed.Is(abi.Internal) {
			_ = exit{cause: failed, doing: "compiling the tool"}.fault(w, p.engine.pool.log)
		}
		return failed
	}
	w.programs[p] = true
	w.measure()
	return nil
}

// exchangeLoad sends the source to the worker. exchangeLoad returns the result of the compilation.
// The result "failed" is the fault that the source caused. The result "err" is the error of the
// exchange. The result "exited" is true if the worker exited before it received the request.
func (p *program) exchangeLoad(w *worker) (failed *abi.Fault, exited bool, err error) {
	src := p.source
	operations, err := json.Marshal(p.table)
	if err != nil {
		return nil, false, fmt.Errorf("write operations: %w", err)
	}
	f := w.wire.frame(kindLoad).number(p.id).text(p.engine.info.Name).data(operations).text(p.key)
	f.text(src.Path).text(src.Entry).number(bit(src.Files != nil)).number(bit(src.Review)).texts(src.Params).data(src.Code)
	if err := w.wire.send(f); err != nil {
		return nil, brokenPipe(err), err
	}
	for {
		k, f, err := w.wire.receive(&loadSizes)
		if err != nil {
			return nil, false, err
		}
		w.unproven = false
		if k == kindLoaded {
			var review engine.Review
			if failed, review, err = readLoaded(f); src.Review {
				p.review.Store(&review)
			}
			return failed, false, err
		}
		name := f.text()
		if err := f.end(); err != nil {
			return nil, false, fmt.Errorf("read file name: %w", err)
		}
		if err := p.files.reply(w.wire.frame(kindFile), name); err != nil {
			return nil, false, err
		}
		if err := w.wire.send(&w.wire.writing); err != nil {
			return nil, false, err
		}
	}
}

// loadCodes contains the fault codes that a compilation can return. All other codes describe a run,
// a caller or stored data.
var loadCodes = []abi.Code{
	abi.SourceInvalid, abi.ABIMismatch, abi.ToolError, abi.TooLarge, abi.InvalidArgument, abi.NotFound,
	abi.MemoryLimit, abi.StackLimit, abi.Timeout, abi.Unavailable, abi.Internal,
}

// readLoaded reads the result of a compilation. If the load requested a review, the result contains
// the review of the source.
func readLoaded(f *fields) (failed *abi.Fault, review engine.Review, err error) {
	status, text, reviewed := f.number(), f.data(), f.data()
	if err := f.end(); err != nil {
		return nil, review, fmt.Errorf("read compilation result: %w", err)
	}
	switch status {
	case outcomeOutput:
		review, err = readReview(reviewed)
		return nil, review, err
	case outcomeFault:
		fault := &abi.Fault{}
		if err := unmarshalFault(text, fault); err != nil {
			return nil, review, err
		}
		if !slices.Contains(loadCodes, fault.Code) {
			return nil, review, fmt.Errorf("the compilation ended with the code %s: %w", fault.Code, errProtocol)
		}
		return sanitized(fault), review, nil
	}
	return nil, review, fmt.Errorf("compile: %s", text)
}

// readReview reads a review. readReview limits the size of the review, because a hostile source may
// control the worker.
func readReview(text []byte) (review engine.Review, err error) {
	if len(text) == 0 {
		return review, nil
	}
	if err := json.Unmarshal(text, &review); err != nil {
		return engine.Review{}, fmt.Errorf("read source review: %w", errProtocol)
	}
	return review.Bounded(), nil
}

// Review returns the review of the source.
func (p *program) Review() engine.Review {
	if review := p.review.Load(); review != nil {
		return *review
	}
	return engine.Review{}
}

// Close waits until active runs have ended, and then releases the program. Close cancels
// compilations that only later runs would use.
func (p *program) Close() error {
	if !p.closed.Swap(true) {
		close(p.closing)
	}
	if p.open.Close() {
		p.engine.pool.stopWaitingFor(p)
		p.source = engine.Source{}
	}
	return nil
}
