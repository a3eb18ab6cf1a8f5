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

// proxy is an engine whose guests run in cells.
type proxy struct {
	pool     *Pool
	language Language
	info     engine.Info

	making sync.Mutex // held while what is shared is made
	shared string     // the folder of what is shared, once it is there
	made   int        // how often it was made anew
}

var (
	_ engine.Engine = (*proxy)(nil)
	_ engine.Walled = (*proxy)(nil)
	_ engine.Sized  = (*proxy)(nil)

	_ engine.Preparer = (*proxy)(nil)

	_ engine.Warmer = (*program)(nil)

	_ engine.Reviewer = (*program)(nil)
)

// Walled is always true: that is what cells are for.
func (e *proxy) Walled() bool { return true }

// MemoryBytes is the language's.
func (e *proxy) MemoryBytes() int64 { return cmp.Or(e.language.MemoryBytes, engine.DefaultMemoryBytes) }

func (e *proxy) Info() engine.Info { return e.info }

// Load has a cell compile the source, and keeps that cell for the first run.
func (e *proxy) Load(ctx context.Context, src engine.Source) (engine.Program, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	if e.language.Unsound != "" && len(e.pool.options.Require) > 0 {
		return nil, abi.Faultf(abi.Unavailable, "%s tools are refused where isolation is required: %s", e.info.Name, e.language.Unsound).
			WithHint("run them on another machine, or without requiring isolation")
	}
	p := &program{engine: e, id: e.pool.programs.Add(1), source: src, table: src.Table(), files: newArchive(src.Files, e.pool.readable), closing: make(chan struct{})}
	p.outfit.memoryFiles = e.language.MemoryFiles
	err := p.compile(ctx)
	// Where an engine answers that, and not the pool, a disk may have damaged what the language shares. Then it is made once
	// more.
	if f, ok := err.(*abi.Fault); ok && f.Code == abi.Unavailable && p.outfit.shared != "" && ctx.Err() == nil && e.unshare(p.outfit) {
		err = p.compile(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.files.seal()
	return p, nil
}

// compile has the program compiled, and what it needs for that.
func (p *program) compile(ctx context.Context) error {
	spent, err := p.equipShared(ctx)
	if err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && spent > 0 {
		later, cancel := patient(ctx, time.Until(deadline)+spent)
		defer cancel()
		ctx = later
	}
	if err := p.equip(ctx); err != nil {
		return err
	}
	return p.within(ctx, nil, func(*process) error { return nil })
}

// What a source may hold.
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
		return abi.Faultf(abi.SourceInvalid, "the source and its names have more than %d bytes", maxSourceBytes)
	}
	return nil
}

// program is a source that at least one cell has compiled, and others compile when they first run it.
type program struct {
	engine *proxy
	id     uint64
	source engine.Source
	table  abi.Table // of the operations
	files  *archive
	outfit outfit
	review atomic.Pointer[engine.Review]
	key    string // of its own compiled code in the folder of the outfit, "" where it is not kept

	open    engine.Door
	closing chan struct{} // closed when the program begins to be
	closed  atomic.Bool
}

var errClosed = errors.New("cell: the program is closed")

// Run executes the tool once, in a cell of its domain.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (out engine.Output, err error) {
	if !p.open.Enter() {
		return engine.Output{}, errClosed
	}
	defer p.open.Leave()
	if ctx.Err() != nil {
		return engine.Output{}, engine.EndOf(ctx)
	}
	if len(in.Input)+len(in.Context) > maxRunBytes {
		return engine.Output{}, abi.Faultf(abi.TooLarge, "the input and the context have more than %d bytes", maxRunBytes)
	}
	err = p.within(ctx, &in.Domain, func(cell *process) error {
		out, err = p.runIn(ctx, cell, in, host)
		return err
	})
	return out, err
}

// within has something done in a cell that has compiled the program. A cell that died while it waited is replaced:
// nothing was done in it yet.
func (p *program) within(ctx context.Context, domain *string, do func(*process) error) error {
	for range maxTries {
		cell, err := p.engine.pool.borrow(ctx, p, domain)
		if err != nil {
			return err
		}
		if !cell.programs[p] {
			if err = p.loadFor(ctx, cell, domain); err == errLeft {
				return engine.EndOf(ctx)
			}
		}
		if err == nil {
			err = do(cell)
		}
		p.engine.pool.release(cell)
		if err != errGone {
			return err
		}
	}
	return unavailable("the processes that would run the tool end before they begin; the host's log has the details")
}

// errLeft is that of a run that did not wait until its cell was ready.
var errLeft = errors.New("cell: the cell is left to the next run")

// loadFor has a cell compile the source. A run that ends before leaves the cell to it: the next run finds it ready.
func (p *program) loadFor(ctx context.Context, cell *process, domain *string) error {
	if domain == nil || ctx.Done() == nil || !p.open.Enter() { // the compiling is a use of the program like a run
		return p.loadIn(ctx, cell)
	}
	pool := p.engine.pool
	var left atomic.Bool
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
		err := p.loadIn(ctx, cell)
		if left.Swap(true) {
			pool.release(cell)
			return
		}
		loaded <- err
	})
	select {
	case err := <-loaded:
		return err
	case <-ctx.Done():
	}
	if left.Swap(true) { // in the same moment it was loaded
		return <-loaded
	}
	return errLeft
}

// IsWarm reports whether a cell waits that can run the program for a domain, or none can be had without waiting for
// others.
func (p *program) IsWarm(domain string) bool { return p.engine.pool.isReady(p, domain) }

// Warm gets a cell ready that may run the program for a domain.
func (p *program) Warm(ctx context.Context, domain string) error {
	if !p.open.Enter() {
		return errClosed
	}
	defer p.open.Leave()
	return p.within(ctx, &domain, func(*process) error { return nil })
}

// maxTries bounds how many dead cells are replaced for one run. Where more of them die, something kills all.
const maxTries = 10

// errGone is what is answered by a cell that was dead when it was asked.
var errGone = errors.New("cell: the cell has died while it waited")

// runIn executes the tool in a cell that has compiled it.
func (p *program) runIn(ctx context.Context, cell *process, in engine.Input, host engine.Host) (engine.Output, error) {
	in.Limits.MemoryBytes = cmp.Or(in.Limits.MemoryBytes, p.engine.MemoryBytes())
	limits := in.Limits.WithDefaults()
	if deadline, ok := ctx.Deadline(); ok && limits.CPU == 0 {
		limits.CPU = processors * max(time.Until(deadline), time.Millisecond)
	}
	if err := cell.limit(limits.MemoryBytes + p.engine.language.ExtraBytes); err != nil {
		return engine.Output{}, p.engine.pool.gone(cell)
	}
	cell.runs++
	x := &exchange{ctx: ctx, cell: cell, host: host, limits: limits, table: p.table, guard: watch(ctx, cell, "the run", allowance{cpu: limits.CPU, memory: limits.MemoryBytes})}
	err := x.sendRun(p.id, in)
	out, lost, unheard := engine.Output{}, err != nil, brokenPipe(err)
	if !lost {
		out, err, lost = x.serve()
	}
	used, reason := x.guard.done()
	gone := unheard || lost && cell.diedWaiting(err)
	out.CPU = used
	if x.halted != nil {
		reason = x.halted
	}
	if gone && reason == nil {
		return out, p.engine.pool.gone(cell)
	}
	if lost {
		return out, death{cause: err, reason: reason, limit: limits.MemoryBytes, doing: "the run", closed: p.engine.pool.isClosed()}.fault(cell, p.engine.pool.log)
	}
	if over := x.guard.exceeded(); over != nil && x.halted == nil {
		cell.kill()
		return out, over
	}
	if x.halted == nil && errors.Is(err, abi.Internal) { // a bug of the engine, which wrote more about it to standard error
		_ = death{cause: err, doing: "the run"}.fault(cell, p.engine.pool.log)
	}
	return out, err
}

// loadSizes are what the parent takes in while a cell compiles.
var loadSizes = sizes{kindOpen: maxNameBytes, kindLoaded: maxFaultBytes}

// loadIn has a cell compile the source.
func (p *program) loadIn(ctx context.Context, cell *process) error {
	limit := p.engine.pool.options.LoadBytes
	if err := cell.limit(limit); err != nil {
		return p.engine.pool.gone(cell)
	}
	g := watch(ctx, cell, "compiling the tool", allowance{memory: limit, kept: cell.kept})
	failed, gone, err := p.exchangeLoad(cell)
	_, reason := g.done()
	gone = gone || err != nil && cell.diedWaiting(err)
	if gone && reason == nil {
		return p.engine.pool.gone(cell)
	}
	if tooMany, ok := err.(*abi.Fault); ok && reason == nil {
		reason = tooMany
	}
	if err != nil {
		return death{cause: err, reason: reason, limit: limit, doing: "compiling the tool", closed: p.engine.pool.isClosed()}.fault(cell, p.engine.pool.log)
	}
	if over := g.exceeded(); over != nil || reason != nil {
		cell.kill()
		return cmp.Or(reason, over)
	}
	if failed != nil {
		if failed.Is(abi.Internal) {
			_ = death{cause: failed, doing: "compiling the tool"}.fault(cell, p.engine.pool.log)
		}
		return failed
	}
	cell.programs[p] = true
	cell.measure()
	return nil
}

// exchangeLoad returns what was wrong with the source, or what was wrong with the exchange; gone is set where the cell
// did not even hear of it.
func (p *program) exchangeLoad(cell *process) (failed *abi.Fault, gone bool, err error) {
	src := p.source
	operations, err := json.Marshal(p.table)
	if err != nil {
		return nil, false, fmt.Errorf("write the operations: %w", err)
	}
	f := cell.wire.frame(kindLoad).number(p.id).text(p.engine.info.Name).data(operations).text(p.key)
	f.text(src.Path).text(src.Entry).number(bit(src.Files != nil)).number(bit(src.Review)).texts(src.Params).data(src.Code)
	if err := cell.wire.send(f); err != nil {
		return nil, brokenPipe(err), err
	}
	for {
		k, f, err := cell.wire.receive(&loadSizes)
		if err != nil {
			return nil, false, err
		}
		cell.waited = false
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
		if err := p.files.answer(cell.wire.frame(kindFile), name); err != nil {
			return nil, false, err
		}
		if err := cell.wire.send(&cell.wire.writing); err != nil {
			return nil, false, err
		}
	}
}

// loadCodes are those that compiling may end with. The others are about a run, its caller or what is stored.
var loadCodes = []abi.Code{
	abi.SourceInvalid, abi.ABIMismatch, abi.ToolError, abi.TooLarge, abi.InvalidArgument, abi.NotFound,
	abi.MemoryLimit, abi.StackLimit, abi.Timeout, abi.Unavailable, abi.Internal,
}

// readLoaded reads how compiling ended, and the review of the source if there is one.
func readLoaded(f *fields) (failed *abi.Fault, review engine.Review, err error) {
	status, text, reviewed := f.number(), f.data(), f.data()
	if err := f.end(); err != nil {
		return nil, review, fmt.Errorf("read how compiling ended: %w", err)
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
			return nil, review, fmt.Errorf("compiling ended with %s: %w", fault.Code, errForeign)
		}
		return trimmed(fault), review, nil
	}
	return nil, review, fmt.Errorf("compile: %s", text)
}

// readReview reads a review, which comes from a process that the source may have taken over.
func readReview(text []byte) (review engine.Review, err error) {
	if len(text) == 0 {
		return review, nil
	}
	if err := json.Unmarshal(text, &review); err != nil {
		return engine.Review{}, fmt.Errorf("read the review of a source: %w", errForeign)
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

// Close waits for the runs under way and lets go of the program. What is still compiled for later runs is given up.
func (p *program) Close() error {
	if !p.closed.Swap(true) {
		close(p.closing)
	}
	if p.open.Close() {
		p.engine.pool.forget(p)
		p.source = engine.Source{}
	}
	return nil
}
