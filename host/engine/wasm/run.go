package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
	"github.com/toolrun/toolrun/internal/wasm/wasi"
)

// run contains the host's state of one execution of a plug-in. Host functions get the run from
// their context. Only the goroutine of the method Run uses a run.
type run struct {
	ctx     context.Context
	in      engine.Input
	limits  engine.Limits
	host    engine.Host
	table   abi.Table
	start   time.Time
	readyAt time.Time // the time when the instance was ready

	input    []byte
	context  []byte
	reply    []byte // the reply of the last memory call
	output   []byte
	changes  []byte // the context changes that the guest wrote
	failure  []byte // the error that the guest wrote
	tooLarge bool   // true if an output or context exceeded its size limit

	system       *wasi.System
	abortMessage string                // the message that the guest printed before it aborted
	issued       map[string]*abi.Fault // the faults that the guest received, by ID
	used         int64                 // the final size of the instance's memory in bytes
	refused      bool                  // true if a request for more memory was denied
	early        []abi.LogLine         // lines that the guest logged during its initialization
	memory       *linearMemory         // the memory of an instance that was created without an image
	restored     *snapshot.Instance
	halted       error // the host stopped the run with this error; the guest cannot see it
	fuel         int64 // the fuel granted so far
	started      bool  // false during the initialization, which has no input and no operations
}

func newRun(ctx context.Context, in engine.Input, host engine.Host, table abi.Table, from machine.Sources) (*run, error) {
	r := &run{ctx: ctx, in: in, limits: in.Limits.WithDefaults(), host: host, table: table, start: time.Now()}
	r.memory = &linearMemory{limit: uint64(r.limits.MemoryBytes)}
	var err error
	r.system, err = wasi.New(wasi.Config{Walltime: from.Walltime, Nanotime: from.Nanotime, Random: from.Random, Log: r.printed})
	return r, err
}

// printed logs a line that the guest wrote to its standard output or standard error.
func (r *run) printed(stream int, line []byte) error {
	level := abi.LevelInfo
	if stream == wasi.Stderr {
		level = abi.LevelError
		if r.abortMessage == "" && (bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))) {
			r.abortMessage = cut(line, maxNameBytes)
		}
	}
	return r.note(level, line)
}

// begin ends the initialization of the instance. The method keeps the memory of the instance, and
// discards all output that the guest wrote during the initialization.
func (r *run) begin() {
	r.readyAt = time.Now()
	r.started, r.reply, r.output, r.changes, r.failure = true, nil, nil, nil, nil
	r.input, r.context = orEmpty(r.in.Input), orEmpty(r.in.Context)
}

func orEmpty(text json.RawMessage) []byte {
	if len(text) == 0 {
		return []byte("{}")
	}
	return text
}

// The method "with" returns a context that contains r. Host functions get r from this context.
func (r *run) with(ctx context.Context) context.Context {
	return machine.With(wasi.With(ctx, r.system), r)
}

// runOf returns the run of the guest that called a host function. runOf gets the run from the
// context of the call.
func runOf(ctx context.Context) *run { return machine.GuestOf[*run](ctx) }

// halt stops the run at once and does not return. The guest cannot catch the error.
func (r *run) halt(err error) {
	if r.halted == nil {
		r.halted = err
	}
	panic(machine.ErrStopped)
}

// account records the memory use of the guest. Before an instance is released, the method must be
// called.
func (r *run) account(guest api.Module) {
	r.used, r.refused = r.memory.peak, r.memory.refused
	if r.restored != nil {
		r.used, r.refused = int64(guest.Memory().Size()), r.restored.Refused()
	}
}

// checkEnd stops the run if its context has ended.
func (r *run) checkEnd() {
	if r.ctx.Err() != nil {
		r.halt(engine.FaultFromContext(r.ctx))
	}
}

// Yield stops the run if the deadline has passed, the run was canceled, or the guest has used all
// fuel.
func (r *run) Yield() bool {
	r.checkEnd()
	if limit := r.limits.Fuel; limit > 0 && r.fuel >= limit {
		r.halt(abi.Faultf(abi.Timeout, "the run exceeded its fuel limit of %d units", limit))
	}
	r.fuel += machine.Slice
	return true
}
