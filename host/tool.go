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
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// tool contains a tool, its compiled program and its compiled schemas. The program and the schemas
// are compiled when the tool is first used.
type tool struct {
	app.Tool
	app       *app.App
	authority memory.Authority // the rights that result from the tool's grants
	load      func(tenant string, limit time.Duration) (engine.Program, error)
	source    func() (engine.Source, error)
	// embeds is true if an embedding model receives texts of the tool; see embedsWith.
	embeds bool

	mu      sync.Mutex
	closed  bool
	loading *loading // nil until the tool is first used

	// The compilation sets the following fields. Do not read these fields before the compilation
	// has ended.
	memory   int64          // default memory limit of a run
	isolated bool           // isolated reports whether the program runs in isolated processes
	input    *schema.Schema // nil for none
	output   *schema.Schema
	digest   string         // digest of the code, set only if effects require approvals
	declared string         // digest of the declarations, set if digest is set
	calls    []machine.Step // the steps of a machine that call the host, set if digest is set
	inputs   []string       // the declared members of the input, or nil if all members are allowed
}

// newTool returns a tool. The caller must set the fields source and load of the tool.
func newTool(a *app.App, declared app.Tool) *tool {
	return &tool{Tool: declared, app: a, authority: memory.Granted(declared.Grants), embeds: embedsWith(a, declared.Grants)}
}

// addTools adds the declared tools to a Host.
func addTools(h *Host) {
	h.tools = make(map[string]*tool, len(h.app.Tools))
	unknown := map[string]problem.List{} // if a name were misspelled, no approval would be required
	for _, p := range h.app.UnknownOperations(functions(h.table)) {
		unknown[p.Tool] = append(unknown[p.Tool], p)
	}
	for _, declared := range h.app.Tools {
		t := newTool(h.app, declared)
		t.Broken = append(slices.Clip(t.Broken), unknown[declared.Name]...)
		t.source = func() (engine.Source, error) { return h.compiler.source(t) }
		t.load = h.compiler.loader(t)
		h.tools[declared.Name] = t
	}
}

// DefaultTool returns the name of the tool that an invocation without a tool name runs. This tool
// is the default tool that the app declares, or the only tool of the app. If the app has no tools,
// the error is not_found. If the app has several tools but no default tool, the error is
// invalid_argument.
func (h *Host) DefaultTool() (string, error) {
	if name := h.app.RunsByDefault(); name != "" {
		return name, nil
	}
	if len(h.tools) == 0 {
		return "", abi.Faultf(abi.NotFound, "the app has no tool to run").WithHint("declare one in the app file")
	}
	return "", abi.Faultf(abi.InvalidArgument, "the request does not select a tool, and the app has several tools but no default_tool").
		WithHint("declare `default_tool` in the app file, or select one of these tools: %s", namesOf(h.tools))
}

// toolName returns the name of an invocation's tool. If the invocation has no tool, toolName
// returns "".
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

// tool returns the declared tool with the given name.
func (h *Host) tool(name string) (*tool, error) {
	if t := h.tools[name]; t != nil {
		return t, nil
	}
	if name == "" {
		_, err := h.DefaultTool()
		return nil, err
	}
	f := abi.Faultf(abi.NotFound, "the tool %q does not exist", name)
	if len(h.tools) == 0 {
		return nil, f.WithHint("the app declares no tools")
	}
	return nil, f.WithHint("the declared tools are: %s", namesOf(h.tools))
}

// loading is the compilation of a tool. If all runs that wait for the compilation have ended, it
// nevertheless continues, because later runs use the program.
type loading struct {
	done    chan struct{}
	limit   time.Duration // of the compilation
	program engine.Program
	err     error
	ended   time.Time
}

// failureKept is the time for which the error of a failed compilation is cached. If a tool needs a
// long time to fail, the cached error prevents repeated compilations. failureKept is short, so that
// authors can soon retry a tool that they have fixed.
const failureKept = 10 * time.Second

// short reports whether the compilation timed out and its time limit was shorter than the given
// limit.
func (l *loading) short(limit time.Duration) bool {
	return l.limit < limit && errors.Is(l.err, abi.Timeout)
}

// stale reports whether the compilation failed and should be retried with the given time limit.
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

// ready returns the program of the tool. If the tool is not compiled yet, ready compiles it within
// the time limit, in the flow of the tenant. If ctx ends, ready stops waiting.
func (t *tool) ready(ctx context.Context, tenant string, limit time.Duration) (engine.Program, error) {
	const tries = 3 // ready waits for at most this number of compilations
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

// isCompiled reports whether the tool is compiled.
func (t *tool) isCompiled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loading == nil {
		return false
	}
	select {
	case <-t.loading.done:
		return t.loading.err == nil
	default:
		return false
	}
}

// begin returns the compilation of the tool, which can be in progress or finished. If no
// compilation exists, begin starts one.
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

// compile compiles the schemas and the program of the tool.
func (t *tool) compile(tenant string, limit time.Duration) (engine.Program, error) {
	if len(t.Broken) > 0 {
		return nil, brokenFault(t.Tool)
	}
	if err := t.compileSchemas(); err != nil {
		return nil, err
	}
	if err := t.setDigests(); err != nil {
		return nil, err
	}
	return t.load(tenant, limit)
}

func brokenFault(t app.Tool) error {
	f := abi.Faultf(abi.SourceInvalid, "the declaration of the tool %q has errors: %v", t.Name, t.Broken)
	f.File, f.Line, f.Column = t.Broken[0].File, t.Broken[0].Line, t.Broken[0].Column
	return f.WithHint("run `toolrun check` to list all errors of the app")
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

// checkInput validates an input against the tool's input schema. checkInput returns warnings about
// members that the schema does not declare.
func (t *tool) checkInput(input json.RawMessage, limits Limits) (warnings []string, err error) {
	value, err := limits.decode(input, t.input)
	if err != nil {
		return nil, documentFault(abi.InputInvalid, "input", err)
	}
	if !strictjson.IsObject(input) {
		return nil, abi.Faultf(abi.InputInvalid, "the input must be a JSON object")
	}
	return t.undeclared(value), violationsFault(abi.InputInvalid, "the input does not match the tool's input schema", t.input, value)
}

// checkOutput validates an output against the tool's output schema.
func (t *tool) checkOutput(output json.RawMessage, limits Limits) error {
	value, err := limits.decode(output, t.output)
	if err != nil {
		return documentFault(abi.OutputInvalid, "output", err)
	}
	return violationsFault(abi.OutputInvalid, "the output does not match the tool's output schema", t.output, value)
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

// close waits until the compilation has ended, and then closes the tool's program.
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

// Check compiles every tool, in the flow of the default tenant. Check returns the compile error of
// each tool that cannot be compiled. The keys of the result are the names of the tools.
func (h *Host) Check(ctx context.Context) map[string]error {
	broken := map[string]error{}
	for _, declared := range h.app.Tools {
		if _, err := h.tools[declared.Name].ready(ctx, DefaultTenant, h.limits.LoadTimeout); err != nil {
			broken[declared.Name] = fmt.Errorf("tool %q: %w", declared.Name, err)
		}
	}
	return broken
}
