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

// script is a tool as one classic script, whose completion value is the function entry(input, context).
type script struct {
	code     string
	warnings []string
	// stringifies is set if the code names JSON.stringify.
	stringifies bool
	// inputs are those that the tool reads as $name.
	inputs []string
	// forgotten are warnings about awaits that are missing.
	forgotten []string
	// position maps a place in code to the author's; ok is false where the code is not the author's.
	position func(line, column int) (file string, srcLine, srcColumn int, ok bool)
}

// program is a compiled tool. Its fields are shared by all runs and not changed.
type program struct {
	engine     *Engine
	name       string // the entry file: what stack traces call the script
	script     *script
	code       *goja.Program
	operations abi.Table
	features
	review engine.Review

	open   sync.RWMutex // held for reading by runs under way
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

// compile compiles the script and returns its tree, with what mends goja in it. It refuses source maps: goja would open the
// file that a "sourceMappingURL" names.
func (p *program) compile() (*ast.Program, error) {
	tree, err := parser.ParseFile(nil, p.name, p.script.code, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	p.script.forgotten = forgottenAwaits(tree, p.script)
	if p.features, err = prepareTree(p.script.code, tree); err != nil {
		return nil, err
	}
	p.code, err = goja.CompileAST(tree, false)
	return tree, err
}

// sourceInvalid reports what goja refuses although the bundler took it, at the author's place.
func (p *program) sourceInvalid(err error) *abi.Fault {
	message, at := "it is no JavaScript that this engine knows", file.Position{}
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

// Run executes the tool once, in a new runtime on the calling goroutine.
func (p *program) Run(ctx context.Context, in engine.Input, host engine.Host) (out engine.Output, err error) {
	p.open.RLock()
	defer p.open.RUnlock()
	if p.closed {
		return engine.Output{}, errClosed
	}
	if ctx.Err() != nil {
		return engine.Output{}, engine.EndOf(ctx)
	}
	r := newRun(ctx, p, in, host)
	defer p.engine.recovered(&err, r.broken)
	out, err = r.execute()
	return out, p.explained(err)
}

// explained adds to an error of the tool's own what most likely led to it.
func (p *program) explained(err error) error {
	f, ok := err.(*abi.Fault)
	cause := p.script.forgottenAwait()
	if !ok || f.Code != abi.ToolError || f.Hint != "" || cause == "" {
		return err
	}
	return f.WithHint("%s", cause)
}

// forgottenAwait returns the first warning about an await that is missing, "" for none.
func (s *script) forgottenAwait() string {
	at := slices.IndexFunc(s.forgotten, func(w string) bool { return strings.Contains(w, awaitMissing) })
	if at < 0 {
		return ""
	}
	return s.forgotten[at]
}

// Close waits for the runs under way and frees the program.
func (p *program) Close() error {
	p.open.Lock()
	defer p.open.Unlock()
	p.closed, p.code, p.script = true, nil, nil
	return nil
}
