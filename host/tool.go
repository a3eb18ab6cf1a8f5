package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/jsondoc"
	"github.com/toolrun/toolrun/schema"
)

// maxSourceBytes bounds the entry file of a tool.
const maxSourceBytes = 64 << 20

// tool is a declared tool with what was made of it. Its program is compiled once, at first use.
type tool struct {
	app.Tool
	load func(context.Context) (engine.Program, error)

	mu      sync.Mutex
	closed  bool
	program engine.Program
	input   *schema.Schema // nil for none
	output  *schema.Schema
}

func (h *Host) addTools() {
	h.tools = make(map[string]*tool, len(h.app.Tools))
	for _, declared := range h.app.Tools {
		t := &tool{Tool: declared}
		t.load = func(ctx context.Context) (engine.Program, error) { return h.compile(ctx, t) }
		h.tools[declared.Name] = t
	}
}

// tool finds a tool by its name.
func (h *Host) tool(name string) (*tool, error) {
	if t := h.tools[name]; t != nil {
		return t, nil
	}
	f := abi.Faultf(abi.NotFound, "there is no tool %q", name)
	if len(h.tools) == 0 {
		return nil, f.WithHint("the app declares no tools")
	}
	return nil, f.WithHint("the tools are: %s", strings.Join(slices.Sorted(maps.Keys(h.tools)), ", "))
}

// ready returns the tool's program, compiling it if this is its first use. A failure is not kept: it may have been
// the context's.
func (t *tool) ready(ctx context.Context) (engine.Program, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errHostClosed
	}
	if t.program != nil {
		return t.program, nil
	}
	if len(t.Broken) > 0 {
		return nil, brokenFault(t.Tool)
	}
	if err := t.compileSchemas(); err != nil {
		return nil, err
	}
	program, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	t.program = program
	return program, nil
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
	}
	if t.OutputSchema != nil {
		if t.output, err = schema.Compile(t.OutputSchema, schema.Options{}); err != nil {
			return abi.Faultf(abi.SourceInvalid, "the output schema of %q: %v", t.Name, err)
		}
	}
	return nil
}

// compile reads the tool's source and hands it to the engine of its extension.
func (h *Host) compile(ctx context.Context, t *tool) (engine.Program, error) {
	ext := path.Ext(t.Source)
	eng := h.engines[ext]
	if eng == nil {
		return nil, abi.Faultf(abi.SourceInvalid, "no engine of this host runs %s files", ext).
			WithHint("this host runs: %s", strings.Join(slices.Sorted(maps.Keys(h.engines)), ", "))
	}
	src, err := h.source(t)
	if err != nil {
		return nil, err
	}
	return eng.Load(ctx, src)
}

// source reads a tool. One that is a folder may import what is in the folder; one that is a single file nothing,
// for what lies beside it are other tools.
func (h *Host) source(t *tool) (engine.Source, error) {
	dir := t.Dir
	if dir == "" {
		dir = path.Dir(t.Source)
	}
	files, err := fs.Sub(h.app.Files, dir)
	if err != nil {
		return engine.Source{}, abi.Faultf(abi.SourceInvalid, "the folder of the tool %q cannot be opened", t.Name)
	}
	src := engine.Source{Path: strings.TrimPrefix(t.Source, dir+"/"), Files: folder{files}, Entry: t.Entry, Params: t.Params(), Domain: h.app.ID}
	if src.Code, err = readSource(src.Files, src.Path); err != nil {
		return engine.Source{}, err
	}
	if t.Dir == "" {
		src.Files = nil
	}
	return src, nil
}

func readSource(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err == nil && info.Size() > maxSourceBytes {
		return nil, abi.Faultf(abi.SourceInvalid, "%s has more than %d bytes", name, maxSourceBytes)
	}
	var code []byte
	if err == nil {
		code, err = fs.ReadFile(files, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, abi.Faultf(abi.SourceInvalid, "%s does not exist", name)
	}
	if err != nil {
		return nil, abi.Faultf(abi.SourceInvalid, "%s cannot be read", name)
	}
	return code, nil
}

// checkInput decides whether an input fits the tool.
func (t *tool) checkInput(input json.RawMessage) error {
	value, err := jsondoc.Decode(input, jsondoc.Limits{Depth: engine.DefaultValueNesting})
	if err != nil {
		return abi.Faultf(abi.InputInvalid, "the input is not valid JSON: %v", err)
	}
	if _, ok := value.(map[string]any); !ok {
		return abi.Faultf(abi.InputInvalid, "the input must be a JSON object")
	}
	return violationsFault(abi.InputInvalid, "the input does not fit the tool's input schema", t.input, value)
}

// checkOutput decides whether an output is what the tool declares.
func (t *tool) checkOutput(output json.RawMessage) error {
	if t.output == nil {
		return nil
	}
	value, err := jsondoc.Decode(output, jsondoc.Limits{Depth: engine.DefaultValueNesting})
	if err != nil {
		return abi.Faultf(abi.OutputInvalid, "the output is not valid JSON: %v", err)
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

// close frees the tool's program.
func (t *tool) close() error {
	t.mu.Lock()
	program := t.program
	t.program, t.closed = nil, true
	t.mu.Unlock()
	if program == nil {
		return nil
	}
	return program.Close()
}

// Check compiles every tool and returns what is wrong with those that do not compile, by their names.
func (h *Host) Check(ctx context.Context) map[string]error {
	broken := map[string]error{}
	for _, declared := range h.app.Tools {
		if _, err := h.tools[declared.Name].ready(ctx); err != nil {
			broken[declared.Name] = fmt.Errorf("tool %q: %w", declared.Name, err)
		}
	}
	return broken
}
