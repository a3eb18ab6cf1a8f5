package wasm

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// program is one entry of a compiled plug-in. All runs of a program share the program's fields. The
// fields never change.
type program struct {
	*plugin
	entry string

	open engine.Inflight
}

var errClosed = errors.New("wasm: the program is closed")

// Run executes the plug-in once. Run uses a fresh instance and the calling goroutine.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	_, out, err := p.perform(ctx, in, host)
	return out, err
}

func (p *program) perform(ctx context.Context, in engine.Input, host engine.Host) (r *run, out engine.Output, err error) {
	if !p.open.Enter() {
		return nil, out, errClosed
	}
	defer p.open.Leave()
	if ctx.Err() != nil {
		return nil, out, engine.FaultFromContext(ctx)
	}
	defer p.engine.recovered(&err)
	if r, err = newRun(ctx, in, host, p.table, machine.SourcesOf(in.Now, in.Seed, in.Frozen)); err != nil {
		return nil, out, err
	}
	out, err = r.conclude(p.execute(r))
	return r, out, err
}

// execute creates an instance and calls the entry of the instance.
func (p *program) execute(r *run) (uint64, error) {
	ctx := r.with(r.ctx)
	guest, done, err := p.starterOf(r.limits.MemoryBytes).instance(ctx, r)
	if err != nil {
		return 0, err
	}
	defer done()
	r.begin()
	results, err := guest.ExportedFunction(p.entry).Call(ctx)
	r.account(guest)
	if err != nil {
		return 0, err
	}
	return results[0], nil
}

// Close waits for the active runs and frees the program. If no other program of the plug-in is
// open, Close also frees the plug-in.
func (p *program) Close() error {
	if !p.open.Close() {
		return nil
	}
	return p.engine.release(p.plugin)
}

// recovered turns a panic into an internal fault. The value of the panic appears only in the host's
// log.
func (e *Engine) recovered(err *error) {
	if x := recover(); x != nil {
		e.panicked(x, debug.Stack())
		*err = abi.Faultf(abi.Internal, "the WebAssembly engine failed; the host's log has the details")
	}
}
