package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// What a guest may say at most, where it is no output: more than is of use, less than hurts.
const (
	maxMessageBytes = 4 << 10
	maxNameBytes    = 1 << 10
	maxLogBytes     = 8 << 10
	maxEarlyLines   = 1000
	maxWarnings     = 10
)

// run is one use of a guest: a run of a tool, or what comes before there is one. It belongs to the goroutine of Run.
type run struct {
	*session
	in     engine.Input
	limits engine.Limits
	host   engine.Host

	files    *folder
	table    abi.Table // the operations that the tool has
	instance *snapshot.Instance
	beside   int64         // bytes of its memory that are not the tool's: a stack
	returned bool          // the guest ended by itself
	issued   []*abi.Fault  // the faults that the guest was given, by their number
	declined int           // how many of them are of malformed calls
	early    []abi.LogLine // what it logged before it ran
	warnings []string
}

var _ services = (*run)(nil)

// newRun makes a run whose guest has the given clocks and random numbers.
func newRun(ctx context.Context, in engine.Input, host engine.Host, from machine.Sources) *run {
	if in.Limits.MemoryBytes == 0 {
		in.Limits.MemoryBytes = DefaultMemoryBytes
	}
	r := &run{in: in, limits: in.Limits.WithDefaults(), host: host}
	r.session = newSession(ctx, r, from)
	r.most = 2*r.limits.OutputBytes + 1<<20 // the output and the context, of which then one is known to be too large
	return r
}

// startRequest asks the guest to run the top level of the tool; alone says that it does so for this run, and watch that
// it is to tell where that asks for the time or for random numbers.
func (r *run) startRequest(alone, watch bool) string {
	return fmt.Sprintf(`start
{"depth":%d,"nesting":%d,"alone":%t,"watch":%t,"env":%s}`, r.limits.CallDepth, r.limits.ValueNesting, alone, watch, r.env(alone))
}

// env is what the top level finds in os.environ, as JSON. It is empty where the top level runs for all runs.
func (r *run) env(alone bool) json.RawMessage {
	var context struct {
		Env map[string]string `json:"env"`
	}
	if !alone || json.Unmarshal(orEmpty(r.in.Context), &context) != nil || context.Env == nil {
		return orEmpty(nil)
	}
	env, err := json.Marshal(context.Env)
	if err != nil {
		return orEmpty(nil) // texts are JSON
	}
	return env
}

// request asks the guest to run the tool. The documents are JSON.
func (r *run) request() string {
	return fmt.Sprintf(`run
{"depth":%d,"nesting":%d,"input":%s,"context":%s}`, r.limits.CallDepth, r.limits.ValueNesting, orEmpty(r.in.Input), orEmpty(r.in.Context))
}

func orEmpty(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	return text
}

// perform has an instance of an image answer requests, up to the first that fails. Without an image it starts an
// interpreter for them. The error is what ended the guest, nil where it answered or was silent.
func (r *run) perform(p *program, image *snapshot.Image, requests ...string) error {
	r.files, r.table = p.files, p.operations
	full := image == nil
	if full {
		image = p.interpreter.data
	} else {
		r.beside = stackBytes
	}
	var err error
	if r.instance, err = image.Restore(r.ctx, nil); err != nil {
		return r.noInstance(err)
	}
	if err := r.instance.LimitMemory(uint64(r.limits.MemoryBytes + r.beside)); err != nil {
		return r.noInstance(err)
	}
	if full {
		r.push(guestFiles())
		r.requests = append(r.requests, requests...)
		return r.launch(r.instance)
	}
	for _, request := range requests {
		r.push(request)
		err := r.ask(p.interpreter, r.instance)
		r.returned = err == nil
		if err != nil || r.outcome.verb == "error" {
			return err
		}
	}
	return nil
}

// noInstance is what a run ends with that got no instance, or one that it may not use.
func (r *run) noInstance(err error) error {
	switch {
	case errors.Is(err, snapshot.ErrMemory) && r.instance != nil:
		r.halted = tooSmall(r.limits.MemoryBytes, r.memoryBytes())
	case errors.Is(err, snapshot.ErrMemory):
		r.halted = outOfMemory(r.limits.MemoryBytes)
	case r.ctx.Err() != nil:
		r.halted = engine.EndOf(r.ctx)
	default:
		r.halted = err
	}
	return r.halted
}

// memoryBytes is the memory that the instance has, in bytes.
func (r *run) memoryBytes() int64 { return int64(r.instance.Guest().Memory().Size()) - r.beside }

// close gives the instance back. One that was stopped, or that trapped, is never used again.
func (r *run) close() {
	if r.instance == nil {
		return
	}
	ctx := context.WithoutCancel(r.ctx)
	if r.returned && r.outcome.verb != "" {
		_ = r.instance.Close(ctx)
	} else {
		_ = r.instance.Discard(ctx)
	}
}

// log takes a line. What is logged before there is a run is kept; of a tool that was loaded before, what loading it
// again logs is known.
func (r *run) log(level abi.Level, text string) error {
	if r.host.Log != nil && r.doing != "load" {
		return r.host.Log(level, text)
	}
	if len(r.early) < maxEarlyLines {
		r.early = append(r.early, abi.LogLine{Level: level, Text: text})
	}
	return nil
}

// warn takes a warning of a run. A guest needs one; it may send what it likes.
func (r *run) warn(text string) {
	if r.doing == "run" && text != "" && len(r.warnings) < maxWarnings {
		r.warnings = append(r.warnings, text)
	}
}

// file reads a module of the tool's folder, while the tool is loaded.
func (r *run) file(name string) (string, bool, error) {
	if r.doing != "load" {
		return "", false, nil
	}
	return r.files.read(name)
}
