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

// run is one use of a guest, which executes a tool, loads a tool, or starts the interpreter. Only
// the goroutine of Run uses a run.
type run struct {
	channel *channel
	memory  memoryCalls
	in      engine.Input
	limits  engine.Limits
	logLine func(level abi.Level, text string) error // nil while log lines cannot be sent yet

	files      *folder
	instance   *snapshot.Instance
	extraBytes int64         // the size of the C stack, which does not count toward the tool's memory
	returned   bool          // true if the call to the guest has returned
	early      []abi.LogLine // log lines from before the run
	warnings   []string
}

var _ handler = (*run)(nil)

// newRun creates a run. The argument "from" contains the guest's clocks and the guest's source of
// random numbers.
func newRun(ctx context.Context, in engine.Input, host engine.Host, from machine.Sources) *run {
	if in.Limits.MemoryBytes == 0 {
		in.Limits.MemoryBytes = DefaultMemoryBytes
	}
	r := &run{in: in, limits: in.Limits.WithDefaults(), logLine: host.Log}
	r.memory = memoryCalls{host: host.Call, nesting: r.limits.ValueNesting}
	r.channel = newChannel(ctx, r, from)
	r.channel.maxOutcome = 2*r.limits.OutputBytes + 1<<20 // enough for an output and a context that exceed their limits
	return r
}

// startRequest returns the request to run the top level of the tool. The argument perRun reports
// whether the result of the top level is for one run only. If watch is true, the guest reports the
// location of code that uses the time or random numbers.
func (r *run) startRequest(perRun, watch bool) string {
	return fmt.Sprintf(`start
{"depth":%d,"nesting":%d,"per_run":%t,"watch":%t,"env":%s}`, r.limits.CallDepth, r.limits.ValueNesting, perRun, watch, r.env(perRun))
}

// env returns the environment variables for the top level's os.environ, as JSON. env returns an
// empty object if the top level runs once for all runs.
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

// The method "request" returns the request to run the tool. Input and context are JSON.
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

// The method "perform" restores an instance of an image and makes the instance process requests
// until a request fails. If image is nil, the method starts an interpreter for the requests. The
// error is the reason why the guest ended, or nil if the call to the guest returned.
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

// noInstance returns the error of a run whose instance cannot be created or exceeds the memory
// limit.
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

// memoryBytes returns the size of the tool's memory in bytes.
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

// The method "call" performs a memory operation. The arguments are JSON texts in the order of the
// parameters. An absent argument is an empty text.
func (r *run) call(op string, args []string) ([]byte, error) {
	return r.memory.call(r.channel.ctx, op, args, r.channel.doing == "run")
}

func (r *run) refuse(op, kind, message string) ([]byte, error) {
	return r.memory.refuse(op, kind, message)
}

// log logs a line. log buffers lines from before the run. If a run has to load the tool again, log
// drops the lines of the repeated load.
func (r *run) log(level abi.Level, text string) error {
	if r.logLine != nil && r.channel.doing != "load" {
		return r.logLine(level, text)
	}
	if len(r.early) < maxEarlyLines {
		r.early = append(r.early, abi.LogLine{Level: level, Text: text})
	}
	return nil
}

// warn records a warning of a run. warn limits the number of warnings, because a guest can send any
// number of warnings.
func (r *run) warn(text string) {
	if r.channel.doing == "run" && text != "" && len(r.warnings) < maxWarnings {
		r.warnings = append(r.warnings, text)
	}
}

// file reads a module in the tool's folder. A guest can read files only while loading a tool.
func (r *run) file(name string) (string, bool, error) {
	if r.channel.doing != "load" {
		return "", false, nil
	}
	return r.files.read(name)
}
