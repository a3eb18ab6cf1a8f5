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

// run is one execution of a plug-in: what the host keeps of it while the guest runs. The functions that the guest
// imports find it in their context. It belongs to the goroutine of Run.
type run struct {
	ctx    context.Context
	in     engine.Input
	limits engine.Limits
	host   engine.Host
	table  abi.Table
	start  time.Time
	begun  time.Time // when the instance was ready

	input    []byte
	context  []byte
	reply    []byte // of the last memory call
	output   []byte
	changes  []byte // what the guest wrote as its context
	failure  []byte // what the guest wrote as its error
	tooLarge bool   // what it wrote as its output or context was refused

	system    *wasi.System
	lastWords string                // what the guest's runtime printed before it gave up
	issued    map[string]*abi.Fault // the faults that the guest was given, by their ids
	used      int64                 // bytes of memory that the instance had at its end
	refused   bool                  // it asked for more than it may have
	early     []abi.LogLine         // what it logged while it initialised
	memory    *linearMemory         // where the instance was not restored
	restored  *snapshot.Instance
	halted    error // what the host ended the run with; the guest does not see it
	fuel      int64 // that it was given
	started   bool  // false while the instance initialises: it has no input and no memory then
}

func newRun(ctx context.Context, in engine.Input, host engine.Host, table abi.Table, from machine.Sources) (*run, error) {
	r := &run{ctx: ctx, in: in, limits: in.Limits.WithDefaults(), host: host, table: table, start: time.Now()}
	r.memory = &linearMemory{limit: uint64(r.limits.MemoryBytes)}
	var err error
	r.system, err = wasi.New(wasi.Config{Walltime: from.Walltime, Nanotime: from.Nanotime, Random: from.Random, Log: r.printed})
	return r, err
}

// printed takes a line of the guest's standard output or error.
func (r *run) printed(stream int, line []byte) error {
	level := abi.LevelInfo
	if stream == wasi.Stderr {
		level = abi.LevelError
		if r.lastWords == "" && (bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))) {
			r.lastWords = cut(line, maxNameBytes)
		}
	}
	return r.note(level, line)
}

// begin ends the initialisation of the instance, of which nothing but its memory is left.
func (r *run) begin() {
	r.begun = time.Now()
	r.started, r.reply, r.output, r.changes, r.failure = true, nil, nil, nil, nil
	r.input, r.context = orEmpty(r.in.Input), orEmpty(r.in.Context)
}

func orEmpty(text json.RawMessage) []byte {
	if len(text) == 0 {
		return []byte("{}")
	}
	return text
}

// with makes a context in which the functions that the guest imports find r.
func (r *run) with(ctx context.Context) context.Context {
	return machine.With(wasi.With(ctx, r.system), r)
}

// runOf finds the run that a call of the guest's belongs to.
func runOf(ctx context.Context) *run { return machine.GuestOf[*run](ctx) }

// halt ends the run at once, past whatever the guest would do about it. It does not return.
func (r *run) halt(err error) {
	if r.halted == nil {
		r.halted = err
	}
	panic(machine.ErrStopped)
}

// account notes what the guest had of memory, before its instance is given back.
func (r *run) account(guest api.Module) {
	r.used, r.refused = r.memory.peak, r.memory.refused
	if r.restored != nil {
		r.used, r.refused = int64(guest.Memory().Size()), r.restored.Refused()
	}
}

// checkEnd ends a run that is over.
func (r *run) checkEnd() {
	if r.ctx.Err() != nil {
		r.halt(engine.EndOf(r.ctx))
	}
}

// Yield reports whether the run may go on. It ends at its deadline, by a cancellation, or for lack of fuel.
func (r *run) Yield() bool {
	r.checkEnd()
	if most := r.limits.Fuel; most > 0 && r.fuel >= most {
		r.halt(abi.Faultf(abi.Timeout, "the run used more fuel than the %d units it may", most))
	}
	r.fuel += machine.Slice
	return true
}
