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

// The limits of a guest's messages, logs and warnings.
const (
	maxMessageBytes = 4 << 10
	maxNameBytes    = 1 << 10
	maxLogBytes     = 8 << 10
	maxEarlyLines   = 1000
	maxWarnings     = 10
)

// run is one use of a guest. In a run, the guest executes a tool, loads a tool, or starts the
// interpreter. Only one goroutine uses a run.
type run struct {
	channel *channel
	memory  memoryCalls
	in      engine.Input
	limits  engine.Limits
	logLine func(level abi.Level, text string) error // nil while log lines cannot be sent yet

	files      *folder
	instance   *snapshot.Instance
	extraBytes int64         // the size of the C stack; not part of the tool's memory
	returned   bool          // true if the call to the guest has returned
	early      []abi.LogLine // log lines that precede the run
	warnings   []string
}

var _ handler = (*run)(nil)

// newRun creates a run. The argument "from" contains the clocks and the source of random numbers
// for the guest.
func newRun(ctx context.Context, in engine.Input, host engine.Host, from machine.Sources) *run {
	if in.Limits.MemoryBytes == 0 {
		in.Limits.MemoryBytes = DefaultMemoryBytes
	}
	r := &run{in: in, limits: in.Limits.WithDefaults(), logLine: host.Log}
	r.memory = memoryCalls{host: host.Call, nesting: r.limits.ValueNesting}
	r.channel = newChannel(ctx, r, from)
	// An output or a context above its limit must be received, so that the run can reject it.
	r.channel.maxOutcome = 2*r.limits.OutputBytes + 1<<20
	return r
}

// startRequest returns the request to run the top level of the tool. The argument perRun is true if
// only one run uses the result of the top level. If the argument "watch" is true, the guest reports
// where the code uses the time or random numbers.
func (r *run) startRequest(perRun, watch bool) string {
	return fmt.Sprintf(`start
{"depth":%d,"nesting":%d,"per_run":%t,"watch":%t,"env":%s}`, r.limits.CallDepth, r.limits.ValueNesting, perRun, watch, r.env(perRun))
}

// env returns the environment variables that the top level can read from os.environ, as JSON. If
// the top level runs once for all runs, the method returns an empty object.
func (r *run) env(perRun bool) json.RawMessage {
	var context struct {
		Env map[string]string `json:"env"`
	}
	if !perRun || json.Unmarshal(orEmpty(r.in.Context), &context) != nil || context.Env == nil {
		return orEmpty(nil)
	}
	env, err := json.Marshal(context.Env)
	if err != nil {
		return orEmpty(nil) // an error is impossible, because strings can always be encoded as JSON
	}
	return env
}

// request returns the request to run the tool. Input and context are JSON.
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

// perform restores an instance from an image and makes the instance process requests until a
// request fails. If the argument "image" is nil, the method starts an interpreter for the requests.
// If the call to the guest returned, the error is nil. Otherwise, the error is the reason why the
// guest ended.
func (r *run) perform(p *program, image *snapshot.Image, requests ...string) error {
	r.files, r.memory.table = p.files, p.operations
	full := image == nil
	if full {
		image = p.interpreter.data
	} else {
		r.extraBytes = stackBytes
	}
	var err error
	if r.instance, err = image.Restore(r.channel.ctx, nil); err != nil {
		return r.noInstance(err)
	}
	if err := r.instance.LimitMemory(uint64(r.limits.MemoryBytes + r.extraBytes)); err != nil {
		return r.noInstance(err)
	}
	if full {
		r.channel.push(guestFiles())
		r.channel.requests = append(r.channel.requests, requests...)
		return r.channel.launch(r.instance)
	}
	for _, request := range requests {
		r.channel.push(request)
		err := r.channel.ask(p.interpreter, r.instance)
		r.returned = err == nil
		if err != nil || r.channel.outcome.verb == "error" {
			return err
		}
	}
	return nil
}

// noInstance returns the error of a run that has no instance: the instance could not be created, or
// would exceed the memory limit.
func (r *run) noInstance(err error) error {
	switch {
	case errors.Is(err, snapshot.ErrMemory) && r.instance != nil:
		r.channel.halted = tooSmall(r.limits.MemoryBytes, r.memoryBytes())
	case errors.Is(err, snapshot.ErrMemory):
		r.channel.halted = outOfMemory(r.limits.MemoryBytes)
	case r.channel.ctx.Err() != nil:
		r.channel.halted = engine.FaultFromContext(r.channel.ctx)
	default:
		r.channel.halted = err
	}
	return r.channel.halted
}

// memoryBytes returns the number of bytes of the tool's memory.
func (r *run) memoryBytes() int64 {
	return int64(r.instance.Guest().Memory().Size()) - r.extraBytes
}

// close releases the instance. An instance that was stopped or that trapped is not reused.
func (r *run) close() {
	if r.instance == nil {
		return
	}
	ctx := context.WithoutCancel(r.channel.ctx)
	if r.returned && r.channel.outcome.verb != "" {
		_ = r.instance.Close(ctx)
	} else {
		_ = r.instance.Discard(ctx)
	}
}

// call performs a memory operation. The arguments are JSON texts in the order of the parameters.
// For an absent argument, the text is empty.
func (r *run) call(op string, args []string) ([]byte, error) {
	return r.memory.call(r.channel.ctx, op, args, r.channel.doing == "run")
}

func (r *run) refuse(op, kind, message string) ([]byte, error) {
	return r.memory.refuse(op, kind, message)
}

// log logs a line. The method buffers lines that the guest writes before the run. If a run has to
// load the tool again, the method drops the lines that the guest writes during this second load.
func (r *run) log(level abi.Level, text string) error {
	if r.logLine != nil && r.channel.doing != "load" {
		return r.logLine(level, text)
	}
	if len(r.early) < maxEarlyLines {
		r.early = append(r.early, abi.LogLine{Level: level, Text: text})
	}
	return nil
}

// warn records a warning of a run. The method limits the number of warnings, because a guest can
// send an unlimited number.
func (r *run) warn(text string) {
	if r.channel.doing == "run" && text != "" && len(r.warnings) < maxWarnings {
		r.warnings = append(r.warnings, text)
	}
}

// file reads a module from the tool's folder. A guest can read files only while the guest loads a
// tool.
func (r *run) file(name string) (string, bool, error) {
	if r.channel.doing != "load" {
		return "", false, nil
	}
	return r.files.read(name)
}
