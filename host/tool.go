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

// tool is a declared tool with what was made of it. Its program is compiled once, at first use.
type tool struct {
	app.Tool
	authority memory.Authority // what Tool.Grants allow
	load      func(tenant string, limit time.Duration) (engine.Program, error)
	source    func() (engine.Source, error)

	mu      sync.Mutex
	closed  bool
	loading *loading // nil until it is first used

	// What loading makes, to be read once that is done:
	memory int64          // what a run may have by default
	walled bool           // the program runs in processes of its own
	input  *schema.Schema // nil for none
	output *schema.Schema
	inputs []string // the names that inputs have; nil if they may have any
}

// newTool returns a tool without its source and its loader.
func newTool(declared app.Tool) *tool {
	return &tool{Tool: declared, authority: memory.Granted(declared.Grants)}
}

func (h *Host) addTools() {
	h.tools = make(map[string]*tool, len(h.app.Tools))
	for _, declared := range h.app.Tools {
		t := newTool(declared)
		t.source = func() (engine.Source, error) { return h.compiler.source(t) }
		t.load = h.compiler.of(t)
		h.tools[declared.Name] = t
	}
}

// DefaultTool returns the name of the tool of invocations that name none: the one that the app declares as its default, or
// its only one. An app without either is invalid_argument, or not_found if it has no tools.
func (h *Host) DefaultTool() (string, error) {
	if name := h.app.RunsByDefault(); name != "" {
		return name, nil
	}
	if len(h.tools) == 0 {
		return "", abi.Faultf(abi.NotFound, "the app has no tool to run").WithHint("declare one in the app file")
	}
	return "", abi.Faultf(abi.InvalidArgument, "no tool is named, and the app has several and no default").
		WithHint("name one of them, or declare default_tool in the app file: %s", namesOf(h.tools))
}

// toolName returns the name of the tool that an invocation of an app asks for, "" if there is none.
func (inv Invocation) toolName(a *app.App) string {
	if inv.Tool != "" || inv.Code != nil {
		return inv.Tool
	}
	return a.RunsByDefault()
}

// namesOf lists the names of tools, in a text.
func namesOf(tools map[string]*tool) string {
	return strings.Join(slices.Sorted(maps.Keys(tools)), ", ")
}

// tool finds a tool by its name.
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

// loading is the compiling of a tool. It goes on where those who wait for it give up: the next ones find it done.
type loading struct {
	done    chan struct{}
	limit   time.Duration // that it may take
	program engine.Program
	err     error
	ended   time.Time
}

// failureKept is how long a tool that does not compile is not compiled again: a stranger's tool that takes long to
// fail must not do so over and over. Its author, who mends it, does not wait for long.
const failureKept = 10 * time.Second

// short reports whether the compiling ended because it had less time than a limit.
func (l *loading) short(limit time.Duration) bool {
	return l.limit < limit && errors.Is(l.err, abi.Timeout)
}

// stale reports whether the compiling failed, and may be tried again within a limit.
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

// ready returns the tool's program, compiling it within a limit, at the tenant's expense, if this is its first use. It
// waits until ctx ends.
func (t *tool) ready(ctx context.Context, tenant string, limit time.Duration) (engine.Program, error) {
	const tries = 3 // of what others began who had less time
	for try := 1; ; try++ {
		l, err := t.begin(tenant, limit)
		if err != nil {
			return nil, err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, engine.EndOf(ctx)
		}
		if try == tries || !l.short(limit) {
			return l.program, l.err
		}
	}
}

// begin returns the loading that is done or under way.
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

// compile makes the schemas and the program.
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
	f := abi.Faultf(abi.SourceInvalid, "the tool %q is declared with mistakes: %v", t.Name, t.Broken)
	f.File, f.Line, f.Column = t.Broken[0].File, t.Broken[0].Line, t.Broken[0].Column
	return f.WithHint("toolrun check lists all mistakes of the app")
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

// checkInput decides whether an input fits the tool. The warnings are about members that it does not declare.
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

// checkOutput decides whether an output is what the tool declares.
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

// close frees the tool's program, once the compiling that may be under way has ended.
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

// Check compiles every tool, in turns of the default tenant's, and returns what is wrong with those that do not compile,
// by their names.
func (h *Host) Check(ctx context.Context) map[string]error {
	broken := map[string]error{}
	for _, declared := range h.app.Tools {
		if _, err := h.tools[declared.Name].ready(ctx, DefaultTenant, h.limits.LoadTimeout); err != nil {
			broken[declared.Name] = fmt.Errorf("tool %q: %w", declared.Name, err)
		}
	}
	return broken
}
