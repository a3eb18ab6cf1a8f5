package js

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// script is a tool as one classic script. The completion value of the script is the function
// entry(input, context).
type script struct {
	code     string
	warnings []string
	// stringifies reports whether the code contains the name JSON.stringify.
	stringifies bool
	// inputs contains the names of the inputs that the tool reads as $name.
	inputs []string
	// awaitWarnings contains the warnings about missing awaits.
	awaitWarnings []string
	// position maps a position in the script's code to the author's files. The result ok is false
	// for generated code.
	position func(line, column int) (file string, srcLine, srcColumn int, ok bool)
}

// program is a compiled tool. All runs of a program share its immutable fields.
type program struct {
	engine     *Engine
	name       string // the entry file; also the name of the script in stack traces
	script     *script
	code       *goja.Program
	operations abi.Table
	features
	review engine.Review

	open   sync.RWMutex // read-locked by active runs
	closed bool
}

var errClosed = errors.New("js: the program is closed")

func newProgram(e *Engine, src engine.Source, s *script) (*program, error) {
	p := &program{engine: e, name: src.Path, script: s, operations: src.Table()}
	tree, err := p.compile()
	if err != nil {
		return nil, p.sourceInvalid(err)
	}
	if src.Review {
		p.review = reviewOf(tree, s, src, p)
	}
	return p, nil
}

// Review returns the review of the source.
func (p *program) Review() engine.Review { return p.review }

// compile compiles the script and returns its syntax tree. compile changes the syntax tree to avoid
// goja's deviations from the language. compile disables source maps, because goja would open the
// file that a "sourceMappingURL" comment names.
func (p *program) compile() (*ast.Program, error) {
	tree, err := parser.ParseFile(nil, p.name, p.script.code, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	p.script.awaitWarnings = lintAwaits(tree, p.script)
	if p.features, err = prepareTree(p.script.code, tree); err != nil {
		return nil, err
	}
	p.code, err = goja.CompileAST(tree, false)
	return tree, err
}

// sourceInvalid returns the fault for code that goja rejects although the bundler accepted it. The
// fault contains the position in the author's file.
func (p *program) sourceInvalid(err error) *abi.Fault {
	message, at := "the engine does not support the syntax", file.Position{}
	if list, ok := errors.AsType[parser.ErrorList](err); ok && len(list) > 0 {
		message, at = list[0].Message, list[0].Position
	}
	if refused, ok := errors.AsType[*goja.CompilerSyntaxError](err); ok {
		message = cleanText(refused.Message, p.patterns)
		if refused.File != nil {
			at = refused.File.Position(refused.Offset)
		}
	}
	if refused, ok := errors.AsType[*patternError](err); ok {
		message, at = refused.Error(), refused.at
	}
	f := abi.Faultf(abi.SourceInvalid, "%s cannot be compiled: %s", p.name, message)
	f.File = p.name
	if where, line, column, ok := p.script.position(at.Line, at.Column); ok {
		f.File, f.Line, f.Column = where, line, column
	}
	return f
}

// Run executes the tool once. Run creates a runtime and uses the calling goroutine.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (out engine.Output, err error) {
	p.open.RLock()
	defer p.open.RUnlock()
	if p.closed {
		return engine.Output{}, errClosed
	}
	if ctx.Err() != nil {
		return engine.Output{}, engine.FaultFromContext(ctx)
	}
	r := newRun(ctx, p, &in, &host)
	defer p.engine.recovered(&err, r.broken)
	out, err = r.execute()
	return out, p.withHint(err)
}

// withHint adds the most likely cause to an error of the tool.
func (p *program) withHint(err error) error {
	f, ok := err.(*abi.Fault)
	cause := p.script.missingAwait()
	if !ok || f.Code != abi.ToolError || f.Hint != "" || cause == "" {
		return err
	}
	return f.WithHint("%s", cause)
}

// missingAwait returns the first warning about a missing await, or "".
func (s *script) missingAwait() string {
	at := slices.IndexFunc(s.awaitWarnings, func(w string) bool { return strings.Contains(w, awaitMissing) })
	if at < 0 {
		return ""
	}
	return s.awaitWarnings[at]
}

// Close waits for active runs and frees the program.
func (p *program) Close() error {
	p.open.Lock()
	defer p.open.Unlock()
	p.closed, p.code, p.script = true, nil, nil
	return nil
}
