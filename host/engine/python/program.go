package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/wasm/machine"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

// program is a loaded tool. All runs of a program share the program's fields. The fields do not
// change after Load.
type program struct {
	engine      *Engine
	interpreter *interpreter
	name        string
	operations  abi.Table
	request     string   // the request to load the tool
	files       *folder  // the modules that the guest requests while it loads the tool
	warnings    []string // the warnings that every run reports
	nothing     string   // the warning that a run reports if it returns nothing
	review      engine.Review

	loaded   *snapshot.Image // captured before the top level runs; nil without snapshots
	topLevel *topLevel       // nil if each run has to execute the top level

	open engine.Inflight
}

// loadRequest is the body of the request to load a tool.
type loadRequest struct {
	Path       string    `json:"path"`
	Code       string    `json:"code"`
	Entry      string    `json:"entry"`
	Params     []string  `json:"params"`
	Folder     bool      `json:"folder"` // true if the tool's folder contains modules
	Review     bool      `json:"review,omitempty"`
	Operations abi.Table `json:"operations"`
}

func load(ctx context.Context, e *Engine, i *interpreter, src engine.Source) (*program, error) {
	code, err := sourceText(src.Path, src.Code)
	if err != nil {
		return nil, err
	}
	body := loadRequest{src.Path, code, src.Entry, append([]string{}, src.Params...), src.Files != nil, src.Review, src.Table()}
	request, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("python: encode a request: %w", err)
	}
	p := &program{engine: e, interpreter: i, name: src.Path, operations: body.Operations, request: "load\n" + string(request), files: newFolder(src.Files)}
	return p, p.load(ctx)
}

// load makes a guest load the tool, and captures the state of this guest.
func (p *program) load(ctx context.Context) error {
	r := newRun(ctx, engine.Input{}, engine.Host{}, machine.Sources{})
	defer r.close()
	if err := r.perform(p, p.interpreter.base, p.request); err != nil || r.channel.outcome.verb != "done" {
		return p.loadFault(r)
	}
	var report struct {
		Once    bool          `json:"once"`
		Warning string        `json:"warning"`
		Review  engine.Review `json:"review"`
	}
	if err := json.Unmarshal(r.channel.outcome.rest, &report); err != nil {
		return fmt.Errorf("python: decode the interpreter's report on a tool: %w", err)
	}
	p.nothing, p.review = report.Warning, report.Review.Bounded()
	for _, line := range r.early {
		p.warnings = append(p.warnings, line.Text)
	}
	if report.Once {
		p.topLevel = newTopLevel(p)
	}
	if p.interpreter.base == nil {
		return nil
	}
	var err error
	p.loaded, err = r.instance.Capture()
	return err
}

// Review returns the review of the tool's source.
func (p *program) Review() engine.Review { return p.review }

var errClosed = errors.New("python: the program is closed")

// Run executes the tool once. Run uses a fresh interpreter and the calling goroutine.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (out engine.Output, err error) {
	if !p.open.Enter() {
		return out, errClosed
	}
	defer p.open.Leave()
	if ctx.Err() != nil {
		return out, engine.FaultFromContext(ctx)
	}
	defer p.engine.recovered(&err)
	r := newRun(ctx, in, host, machine.SourcesOf(in.Now, in.Seed, in.Frozen))
	defer r.close()
	return r.conclude(p, p.execute(r))
}

// execute restores the tool's latest snapshot and runs the tool. If the snapshot was captured after
// the top level had run, only the entry function runs.
func (p *program) execute(r *run) error {
	image, requests := p.loaded, []string{r.request()}
	if p.topLevel != nil {
		started, err := p.topLevel.image(r)
		if err != nil {
			r.channel.halted = err
			return err
		}
		if started == nil {
			requests = []string{r.startRequest(true, p.topLevel.toWatch()), r.request()}
			defer p.topLevel.warn(r)
		} else {
			image = started
		}
	}
	if image == nil {
		requests = append([]string{p.request}, requests...)
	}
	return r.perform(p, image, requests...)
}

// Close waits for the active runs and releases the program.
func (p *program) Close() error {
	if !p.open.Close() {
		return nil
	}
	ctx := context.Background()
	var errs []error
	if p.topLevel != nil && p.topLevel.started != nil {
		errs = append(errs, p.topLevel.started.Close(ctx))
	}
	if p.loaded != nil {
		errs = append(errs, p.loaded.Close(ctx))
	}
	return errors.Join(errs...)
}

// recovered turns a panic into an internal fault. The value and the stack of the panic appear only
// in the host's log.
func (e *Engine) recovered(err *error) {
	if x := recover(); x != nil {
		e.panicked(x, debug.Stack())
		*err = abi.Faultf(abi.Internal, "the Python engine failed; the host's log has the details")
	}
}
