package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// tool is a declared tool with its compiled program and schemas. They are compiled once, when the
// tool is first used.
type tool struct {
	app.Tool
	authority memory.Authority // the rights that Tool.Grants give
	load      func(tenant string, limit time.Duration) (engine.Program, error)
	source    func() (engine.Source, error)

	mu      sync.Mutex
	closed  bool
	loading *loading // nil until the tool is first used

	// Set by loading; to be read only after it is done:
	memory   int64          // default memory limit of a run
	isolated bool           // the program runs in isolated processes
	input    *schema.Schema // nil for none
	output   *schema.Schema
	inputs   []string // the declared members of inputs; nil if any are allowed
}

// newTool returns a tool whose source and load are not set.
func newTool(declared app.Tool) *tool {
	return &tool{Tool: declared, authority: memory.Granted(declared.Grants)}
}

func (h *Host) addTools() {
	h.tools = make(map[string]*tool, len(h.app.Tools))
	for _, declared := range h.app.Tools {
		t := newTool(declared)
		t.source = func() (engine.Source, error) { return h.compiler.source(t) }
		t.load = h.compiler.loader(t)
		h.tools[declared.Name] = t
	}
}

// DefaultTool returns the name of the tool for invocations that name none: the app's declared
// default, or its only tool. The error is invalid_argument for an app without either, and not_found
// for one without tools.
func (h *Host) DefaultTool() (string, error) {
	if name := h.app.RunsByDefault(); name != "" {
		return name, nil
	}
	if len(h.tools) == 0 {
		return "", abi.Faultf(abi.NotFound, "the app has no tool to run").WithHint("declare one in the app file")
	}
	return "", abi.Faultf(abi.InvalidArgument, "no tool is named, and the app has several tools and no default").
		WithHint("name one, or declare default_tool in the app file: %s", namesOf(h.tools))
}

// toolName returns the name of the tool of an invocation, "" if it has none.
func (inv Invocation) toolName(a *app.App) string {
	if inv.Tool != "" || inv.Code != nil {
		return inv.Tool
	}
	return a.RunsByDefault()
}

// namesOf returns the names of tools as a comma-separated list.
func namesOf(tools map[string]*tool) string {
	return strings.Join(slices.Sorted(maps.Keys(tools)), ", ")
}

// tool returns the tool with that name.
func (h *Host) tool(name string) (*tool, error) {
	if t := h.tools[name]; t != nil {
		return t, nil
	}
	if name == "" {
		_, err := h.DefaultTool()
		return nil, err
	}
	f := abi.Faultf(abi.NotFound, "there is no tool %q", name)
	if len(h.tools) == 0 {
		return nil, f.WithHint("the app declares no tools")
	}
	return nil, f.WithHint("the tools are: %s", namesOf(h.tools))
}

// loading is the compilation of a tool. It continues if the runs that wait for it give up: later
// runs use its result.
type loading struct {
	done    chan struct{}
	limit   time.Duration // of the compilation
	program engine.Program
	err     error
	ended   time.Time
}

// failureKept is how long a tool that failed to compile is not compiled again. It keeps a tool that
// is slow to fail from being compiled over and over, and is short enough for an author who fixes
// the tool.
const failureKept = 10 * time.Second

// short reports whether the compilation failed because its time limit was below limit.
func (l *loading) short(limit time.Duration) bool {
	return l.limit < limit && errors.Is(l.err, abi.Timeout)
}

// stale reports whether the compilation failed and may be retried within limit.
func (l *loading) stale(limit time.Duration) bool {
	select {
	case <-l.done:
	default:
		return false
	}
	if l.err == nil {
		return false
	}
	return errors.Is(l.err, abi.Unavailable) || l.short(limit) || time.Since(l.ended) > failureKept
}

// ready returns the tool's program. If it is not compiled, ready compiles it within limit, on
// behalf of the tenant. It waits until ctx ends.
func (t *tool) ready(ctx context.Context, tenant string, limit time.Duration) (engine.Program, error) {
	const tries = 3 // of compilations that others began with a lower limit
	for try := 1; ; try++ {
		l, err := t.begin(tenant, limit)
		if err != nil {
			return nil, err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, engine.FaultFromContext(ctx)
		}
		if try == tries || !l.short(limit) {
			return l.program, l.err
		}
	}
}

// begin returns the current or finished compilation, or starts one.
func (t *tool) begin(tenant string, limit time.Duration) (*loading, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errHostClosed
	}
	if t.loading != nil && !t.loading.stale(limit) {
		return t.loading, nil
	}
	l := &loading{done: make(chan struct{}), limit: limit}
	t.loading = l
	go func() {
		defer close(l.done)
		l.program, l.err = t.compile(tenant, limit)
		l.ended = time.Now()
	}()
	return l, nil
}

// compile compiles the schemas and the program.
func (t *tool) compile(tenant string, limit time.Duration) (engine.Program, error) {
	if len(t.Broken) > 0 {
		return nil, brokenFault(t.Tool)
	}
	if err := t.compileSchemas(); err != nil {
		return nil, err
	}
	return t.load(tenant, limit)
}

func brokenFault(t app.Tool) error {
	f := abi.Faultf(abi.SourceInvalid, "the declaration of the tool %q has errors: %v", t.Name, t.Broken)
	f.File, f.Line, f.Column = t.Broken[0].File, t.Broken[0].Line, t.Broken[0].Column
	return f.WithHint("run toolrun check to list all errors of the app")
}

func (t *tool) compileSchemas() (err error) {
	if t.InputSchema != nil {
		if t.input, err = schema.Compile(t.InputSchema, schema.Options{}); err != nil {
			return abi.Faultf(abi.SourceInvalid, "the input schema of %q: %v", t.Name, err)
		}
		t.inputs = declaredInputs(t.InputSchema, t.Params())
	}
	if t.OutputSchema != nil {
		if t.output, err = schema.Compile(t.OutputSchema, schema.Options{}); err != nil {
			return abi.Faultf(abi.SourceInvalid, "the output schema of %q: %v", t.Name, err)
		}
	}
	return nil
}

// checkInput checks an input against the tool's input schema. It returns warnings about undeclared
// members.
func (t *tool) checkInput(input json.RawMessage, limits Limits) (warnings []string, err error) {
	value, err := limits.decode(input, t.input)
	if err != nil {
		return nil, documentFault(abi.InputInvalid, "input", err)
	}
	if !strictjson.IsObject(input) {
		return nil, abi.Faultf(abi.InputInvalid, "the input must be a JSON object")
	}
	return t.undeclared(value), violationsFault(abi.InputInvalid, "the input does not fit the tool's input schema", t.input, value)
}

// checkOutput checks an output against the tool's output schema.
func (t *tool) checkOutput(output json.RawMessage, limits Limits) error {
	value, err := limits.decode(output, t.output)
	if err != nil {
		return documentFault(abi.OutputInvalid, "output", err)
	}
	return violationsFault(abi.OutputInvalid, "the output does not fit the tool's output schema", t.output, value)
}

func violationsFault(code abi.Code, what string, s *schema.Schema, value any) error {
	if s == nil {
		return nil
	}
	found := s.Validate(value)
	if len(found) == 0 {
		return nil
	}
	f := abi.Faultf(code, "%s: %s", what, abi.Summary(found))
	f.Violations = found
	return f
}

// close waits for a running compilation and closes the tool's program.
func (t *tool) close() error {
	t.mu.Lock()
	l := t.loading
	t.loading, t.closed = nil, true
	t.mu.Unlock()
	if l == nil {
		return nil
	}
	if <-l.done; l.program == nil {
		return nil
	}
	return l.program.Close()
}

// Check compiles every tool on behalf of the default tenant and returns the errors by tool name.
func (h *Host) Check(ctx context.Context) map[string]error {
	broken := map[string]error{}
	for _, declared := range h.app.Tools {
		if _, err := h.tools[declared.Name].ready(ctx, DefaultTenant, h.limits.LoadTimeout); err != nil {
			broken[declared.Name] = fmt.Errorf("tool %q: %w", declared.Name, err)
		}
	}
	return broken
}
