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

	preparing  sync.Mutex // held while shared state is prepared
	shared     string     // the folder of the shared state, once prepared
	generation int        // how often the shared state was replaced
}

var (
	_ engine.Engine          = (*proxy)(nil)
	_ engine.Isolated        = (*proxy)(nil)
	_ engine.MemoryDefaulter = (*proxy)(nil)

	_ engine.Preparer = (*proxy)(nil)

	_ engine.Warmer = (*program)(nil)

	_ engine.Reviewer = (*program)(nil)
)

// Isolated returns true: guests run in workers.
func (e *proxy) Isolated() bool { return true }

// MemoryBytes returns the default memory limit of the language.
func (e *proxy) MemoryBytes() int64 { return cmp.Or(e.language.MemoryBytes, engine.DefaultMemoryBytes) }

func (e *proxy) Info() engine.Info { return e.info }

// Load compiles the source in a worker and keeps that worker for the first run.
func (e *proxy) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	if e.language.Unsound != "" && len(e.pool.options.Require) > 0 {
		return nil, abi.Faultf(abi.Unavailable, "%s tools are rejected if isolation is required: %s", e.info.Name, e.language.Unsound).
			WithHint("run them on another machine, or do not require isolation")
	}
	p := &program{engine: e, id: e.pool.programs.Add(1), source: src, table: src.Table(), files: newArchive(src.Files, e.pool.readable), closing: make(chan struct{})}
	p.mounts.memoryFiles = e.language.MemoryFiles
	err := p.compile(ctx)
	// If the engine returns this fault, and not the pool, the shared state may be damaged on disk.
	// It is prepared once more.
	if f, ok := err.(*abi.Fault); ok && f.Code == abi.Unavailable && p.mounts.shared != "" && ctx.Err() == nil && e.dropShared(p.mounts) {
		err = p.compile(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.files.seal()
	return p, nil
}

// compile compiles the program and everything that it requires.
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

// The limits of a source.
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
	if size > maxSourceBytes || len(src.Params) > maxParams || len(src.Path) > maxNameBytes || len(src.Entry) > maxNameBytes {
		return abi.Faultf(abi.SourceInvalid, "the source and its names exceed %d bytes", maxSourceBytes)
	}
	return nil
}

// program is a source that at least one worker has compiled. Other workers compile it before their
// first run.
type program struct {
	engine *proxy
	id     uint64
	source engine.Source
	table  abi.Table // the operations that the guest has
	files  *archive
	mounts mounts
	review atomic.Pointer[engine.Review]
	key    string // the key of its compiled code in mounts.folder; "" if it is not kept

	open    engine.Inflight
	closing chan struct{} // closed by the first Close
	closed  atomic.Bool
}

var errClosed = errors.New("sandbox: the program is closed")

// Run executes the tool once, in a worker of its domain.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (out engine.Output, err error) {
	if !p.open.Enter() {
		return engine.Output{}, errClosed
	}
	defer p.open.Leave()
	if ctx.Err() != nil {
		return engine.Output{}, engine.FaultFromContext(ctx)
	}
	if len(in.Input)+len(in.Context) > maxRunBytes {
		return engine.Output{}, abi.Faultf(abi.TooLarge, "the input and the context exceed %d bytes", maxRunBytes)
	}
	err = p.within(ctx, &in.Domain, func(w *worker) error {
		out, err = p.runIn(ctx, w, in, host)
		return err
	})
	return out, err
}

// within calls do with a worker that has compiled the program. A worker that died while idle is
// replaced, because nothing has run in it yet.
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
	return unavailable("processes for the tool die before they start the run; see the log of the host")
}

// errDetached is the error of a run that ended before its worker was ready.
var errDetached = errors.New("sandbox: the worker is kept for the next run")

// loadFor compiles the source in a worker. If the run ends first, compiling continues and the next
// run uses the worker.
func (p *program) loadFor(ctx context.Context, w *worker, domain *string) error {
	if domain == nil || ctx.Done() == nil || !p.open.Enter() { // compiling uses the program as a run does
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
	if detached.Swap(true) { // it was loaded at the same moment
		return <-loaded
	}
	return errDetached
}

// IsWarm reports whether an idle worker can run the program for a domain, or whether no slot is
// free to prepare one.
func (p *program) IsWarm(domain string) bool { return p.engine.pool.isReady(p, domain) }

// Warm prepares a worker that can run the program for a domain.
func (p *program) Warm(ctx context.Context, domain string) error {
	if !p.open.Enter() {
		return errClosed
	}
	defer p.open.Leave()
	return p.within(ctx, &domain, func(*worker) error { return nil })
}

// maxTries limits how many dead workers are replaced for a run. If more die, all of them do.
const maxTries = 10

// errWorkerDied is the error of a request to a worker that was already dead.
var errWorkerDied = errors.New("sandbox: the worker died while idle")

// runIn executes the tool in a worker that has compiled it.
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
	x := &exchange{ctx: ctx, worker: w, host: host, limits: limits, table: p.table, watchdog: startWatchdog(ctx, w, "the run", budget{cpu: limits.CPU, memory: limits.MemoryBytes})}
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
	if x.halted == nil && errors.Is(err, abi.Internal) { // a bug of the engine, with details on standard error
		_ = exit{cause: err, doing: "the run"}.fault(w, p.engine.pool.log)
	}
	return out, err
}

// loadSizes limits the frames that the parent accepts while a worker compiles.
var loadSizes = sizes{kindOpen: maxNameBytes, kindLoaded: maxFaultBytes}

// loadIn compiles the source in a worker.
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

// exchangeLoad returns the fault of the source in failed, or the error of the exchange in err.
// exited is true if the worker did not receive the request.
func (p *program) exchangeLoad(w *worker) (failed *abi.Fault, exited bool, err error) {
	src := p.source
	operations, err := json.Marshal(p.table)
	if err != nil {
		return nil, false, fmt.Errorf("write the operations: %w", err)
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
			return nil, false, fmt.Errorf("read which file: %w", err)
		}
		if err := p.files.reply(w.wire.frame(kindFile), name); err != nil {
			return nil, false, err
		}
		if err := w.wire.send(&w.wire.writing); err != nil {
			return nil, false, err
		}
	}
}

// loadCodes are the codes of faults that compiling can return. Other codes are about a run, its
// caller or stored data.
var loadCodes = []abi.Code{
	abi.SourceInvalid, abi.ABIMismatch, abi.ToolError, abi.TooLarge, abi.InvalidArgument, abi.NotFound,
	abi.MemoryLimit, abi.StackLimit, abi.Timeout, abi.Unavailable, abi.Internal,
}

// readLoaded reads the result of compiling, and the review of the source if there is one.
func readLoaded(f *fields) (failed *abi.Fault, review engine.Review, err error) {
	status, text, reviewed := f.number(), f.data(), f.data()
	if err := f.end(); err != nil {
		return nil, review, fmt.Errorf("read the result of compiling: %w", err)
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
			return nil, review, fmt.Errorf("compiling ended with %s: %w", fault.Code, errProtocol)
		}
		return sanitized(fault), review, nil
	}
	return nil, review, fmt.Errorf("compile: %s", text)
}

// readReview reads a review. It limits its size, because the source may control the worker.
func readReview(text []byte) (review engine.Review, err error) {
	if len(text) == 0 {
		return review, nil
	}
	if err := json.Unmarshal(text, &review); err != nil {
		return engine.Review{}, fmt.Errorf("read the review of a source: %w", errProtocol)
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

// Close waits for active runs and releases the program. Compilations for later runs are cancelled.
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
