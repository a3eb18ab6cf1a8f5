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

// program is a loaded tool. Its fields are shared by all runs and not changed.
type program struct {
	engine      *Engine
	interpreter *interpreter
	name        string
	operations  abi.Table
	request     string   // what a guest is asked that has not loaded the tool
	files       *folder  // what it then asks for
	warnings    []string // of every run
	nothing     string   // the warning of a run that answers nothing
	review      engine.Review

	loaded  *snapshot.Image // the interpreter with the tool, of which nothing ran; nil where every run starts its own
	starter *starter        // nil where nothing runs once for many runs

	open engine.Door
}

// loadRequest asks a guest to load a tool.
type loadRequest struct {
	Path       string    `json:"path"`
	Code       string    `json:"code"`
	Entry      string    `json:"entry"`
	Params     []string  `json:"params"`
	Folder     bool      `json:"folder"` // whether the tool has modules of its own
	Review     bool      `json:"review,omitempty"`
	Operations abi.Table `json:"operations"`
}

func load(ctx context.Context, e *Engine, i *interpreter, src engine.Source) (*program, error) {
	code, err := sourceText(src.Path, src.Code)
	if err != nil {
		return nil, err
	}
	asked := loadRequest{src.Path, code, src.Entry, append([]string{}, src.Params...), src.Files != nil, src.Review, src.Table()}
	request, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("python: write a request: %w", err)
	}
	p := &program{engine: e, interpreter: i, name: src.Path, operations: asked.Operations, request: "load\n" + string(request), files: newFolder(src.Files)}
	return p, p.load(ctx)
}

// load has a guest load the tool, and keeps it as it is then.
func (p *program) load(ctx context.Context) error {
	r := newRun(ctx, engine.Input{}, engine.Host{}, machine.Sources{})
	defer r.close()
	if err := r.perform(p, p.interpreter.base, p.request); err != nil || r.outcome.verb != "done" {
		return p.loadFault(r)
	}
	var told struct {
		Once    bool          `json:"once"`
		Warning string        `json:"warning"`
		Review  engine.Review `json:"review"`
	}
	if err := json.Unmarshal(r.outcome.rest, &told); err != nil {
		return fmt.Errorf("python: read what the interpreter says of a tool: %w", err)
	}
	p.nothing, p.review = told.Warning, told.Review.Bounded()
	for _, line := range r.early {
		p.warnings = append(p.warnings, line.Text)
	}
	if told.Once {
		p.starter = newStarter(p)
	}
	if p.interpreter.base == nil {
		return nil
	}
	var err error
	p.loaded, err = r.instance.Capture()
	return err
}

// Review returns the review of the source.
func (p *program) Review() engine.Review { return p.review }

var errClosed = errors.New("python: the program is closed")

// Run executes the tool once, in a fresh interpreter on the calling goroutine.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (out engine.Output, err error) {
	if !p.open.Enter() {
		return out, errClosed
	}
	defer p.open.Leave()
	if ctx.Err() != nil {
		return out, engine.EndOf(ctx)
	}
	defer p.engine.recovered(&err)
	r := newRun(ctx, in, host, machine.SourcesOf(in.Now, in.Seed))
	defer r.close()
	return r.conclude(p, p.execute(r))
}

// execute runs what is left to run: of a tool whose top level ran, the entry.
func (p *program) execute(r *run) error {
	image, requests := p.loaded, []string{r.request()}
	if p.starter != nil {
		started, err := p.starter.image(r)
		if err != nil {
			r.halted = err
			return err
		}
		if started == nil {
			requests = []string{r.startRequest(true, p.starter.toWatch()), r.request()}
			defer p.starter.warn(r)
		} else {
			image = started
		}
	}
	if image == nil {
		requests = append([]string{p.request}, requests...)
	}
	return r.perform(p, image, requests...)
}

// Close waits for the runs under way and frees the program.
func (p *program) Close() error {
	if !p.open.Close() {
		return nil
	}
	ctx := context.Background()
	var errs []error
	if p.starter != nil && p.starter.started != nil {
		errs = append(errs, p.starter.started.Close(ctx))
	}
	if p.loaded != nil {
		errs = append(errs, p.loaded.Close(ctx))
	}
	return errors.Join(errs...)
}

// recovered turns a panic into an internal fault. What it was is for the log of the host alone.
func (e *Engine) recovered(err *error) {
	if x := recover(); x != nil {
		e.panicked(x, debug.Stack())
		*err = abi.Faultf(abi.Internal, "the Python engine failed; the host's log has the details")
	}
}
