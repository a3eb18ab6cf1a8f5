package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// program is a compiled plug-in, with a runtime of its own. Its fields are shared by all runs and not changed.
type program struct {
	*machine
	engine  *Engine
	table   []abi.Operation
	entry   string
	starter *starter

	open   sync.RWMutex // held for reading by runs under way
	closed bool
}

var errClosed = errors.New("wasm: the program is closed")

func load(ctx context.Context, e *Engine, src engine.Source) (*program, error) {
	p := &program{engine: e, table: abi.Operations, entry: orElse(src.Entry, defaultEntry)}
	p.starter = &starter{program: p}
	code, err := p.rewrite(src)
	if err != nil {
		return nil, err
	}
	if p.machine, err = e.cache.compile(ctx, code); err != nil {
		return nil, named(src, abi.Faultf(abi.SourceInvalid, "it is no valid WebAssembly: %v", err))
	}
	if err := p.provide(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("wasm: make what plug-ins import: %w", err), p.machine.close())
	}
	return p, nil
}

// rewrite checks a plug-in and makes of it what is compiled: a module that can be stopped and, where it is of the
// kind, restored.
func (p *program) rewrite(src engine.Source) ([]byte, error) {
	module, err := inspect(src, p.table)
	if err != nil {
		return nil, err
	}
	code, err := fuel.Rewrite(module, fuel.Options{Module: fuelModule})
	if err != nil {
		return nil, named(src, abi.Faultf(abi.SourceInvalid, "%v", err))
	}
	if module, err = binary.Parse(code, fueled); err != nil {
		return nil, fmt.Errorf("wasm: read what was rewritten: %w", err)
	}
	if p.starter.module, err = snapshot.Rewrite(module); err != nil {
		return code, nil // it has state that an image does not hold
	}
	return p.starter.module.Binary, nil
}

// fueled are limits for what the host has rewritten, which is larger than what it was.
var fueled = binary.Limits{
	ModuleBytes: 256 << 20, BodyBytes: 64 << 20, Imports: 10_000, Functions: 200_000, Types: 50_000, Globals: 50_000, Exports: 50_000,
	Locals: 1 << 20, AllLocals: 16 << 20, Carried: 64 << 20, Nesting: 20_000,
}

// provide makes the modules that a plug-in may import.
func (p *program) provide(ctx context.Context) error {
	_, err := export(p.runtime.NewHostModuleBuilder(runModule), runFunctions).Instantiate(ctx)
	if err != nil {
		return err
	}
	if _, err = export(p.runtime.NewHostModuleBuilder(memoryModule), memoryFunctions(p.table)).Instantiate(ctx); err != nil {
		return err
	}
	_, err = p.runtime.NewHostModuleBuilder(fuelModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(refuel), []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export("yield").Instantiate(ctx)
	if err != nil {
		return err
	}
	return wasi.Instantiate(ctx, p.runtime)
}

// Run executes the plug-in once, in a fresh instance on the calling goroutine.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	_, out, err := p.perform(ctx, in, host)
	return out, err
}

func (p *program) perform(ctx context.Context, in engine.Input, host engine.Host) (r *run, out engine.Output, err error) {
	p.open.RLock()
	defer p.open.RUnlock()
	if p.closed {
		return nil, out, errClosed
	}
	if ctx.Err() != nil {
		return nil, out, engine.EndOf(ctx)
	}
	defer p.engine.recovered(&err)
	if r, err = newRun(ctx, in, host, p.table, systemOf{}); err != nil {
		return nil, out, err
	}
	out, err = r.conclude(p.execute(r))
	return r, out, err
}

// execute makes an instance and calls its entry.
func (p *program) execute(r *run) (uint64, error) {
	ctx := r.with(r.ctx)
	guest, done, err := p.starter.instance(ctx, r)
	if err != nil {
		return 0, err
	}
	defer done()
	r.begin()
	answer, err := guest.ExportedFunction(p.entry).Call(ctx)
	r.account(guest)
	if err != nil {
		return 0, err
	}
	return answer[0], nil
}

// Close waits for the runs under way and frees the program.
func (p *program) Close() error {
	p.open.Lock()
	defer p.open.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	return errors.Join(p.starter.close(), p.machine.close())
}

// recovered turns a panic into an internal fault. What it was is for the log of the host alone.
func (e *Engine) recovered(err *error) {
	if x := recover(); x != nil {
		e.panicked(x, debug.Stack())
		*err = abi.Faultf(abi.Internal, "the WebAssembly engine failed; the host's log has the details")
	}
}
