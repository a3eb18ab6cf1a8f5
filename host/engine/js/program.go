package js

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// script is a tool as one classic script, whose completion value is the function entry(input, context).
type script struct {
	code     string
	warnings []string
	// position maps a place in code to the author's; ok is false where the code is not the author's.
	position func(line, column int) (file string, srcLine, srcColumn int, ok bool)
}

// program is a compiled tool. Its fields are shared by all runs and not changed.
type program struct {
	engine     *Engine
	name       string // the entry file: what stack traces call the script
	script     *script
	code       *goja.Program
	operations *goja.Program // evaluates to the table of operations

	open   sync.RWMutex // held for reading by runs under way
	closed bool
}

var errClosed = errors.New("js: the program is closed")

func newProgram(e *Engine, name string, s *script, operations []abi.Operation) (*program, error) {
	code, err := compile(name, s.code)
	if err != nil {
		return nil, sourceInvalid(name, s, err)
	}
	table, err := compileOperations(operations)
	if err != nil {
		return nil, fmt.Errorf("compile the table of operations: %w", err)
	}
	return &program{engine: e, name: name, script: s, code: code, operations: table}, nil
}

// compileOperations makes a script of the table of operations. The parameters of each are made when it is
// called, for a run seldom calls them all.
func compileOperations(operations []abi.Operation) (*goja.Program, error) {
	var b strings.Builder
	b.WriteString("[")
	for _, op := range operations {
		// A JSON text is an expression of JavaScript.
		name, err := json.Marshal(op.Name)
		if err != nil {
			return nil, err
		}
		params, err := json.Marshal(op.Params)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "{name: %s, get params() { return %s }},\n", name, params)
	}
	b.WriteString("]")
	return compile("toolrun:operations", b.String())
}

// compile refuses source maps: goja would open the file that a "sourceMappingURL" names.
func compile(name, code string) (*goja.Program, error) {
	tree, err := parser.ParseFile(nil, name, code, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(tree, false)
}

// sourceInvalid reports what goja refuses although the bundler took it, at the author's place.
func sourceInvalid(name string, s *script, err error) *abi.Fault {
	message, at := "it is no JavaScript that this engine knows", file.Position{}
	if list, ok := errors.AsType[parser.ErrorList](err); ok && len(list) > 0 {
		message, at = list[0].Message, list[0].Position
	}
	if refused, ok := errors.AsType[*goja.CompilerSyntaxError](err); ok {
		message = refused.Message
		if refused.File != nil {
			at = refused.File.Position(refused.Offset)
		}
	}
	f := abi.Faultf(abi.SourceInvalid, "%s cannot be compiled: %s", name, message)
	f.File = name
	if where, line, column, ok := s.position(at.Line, at.Column); ok {
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
		return engine.Output{}, endOf(ctx)
	}
	defer p.engine.recovered(&err)
	return newRun(ctx, p, in, host).execute()
}

// Close waits for the runs under way and frees the program.
func (p *program) Close() error {
	p.open.Lock()
	defer p.open.Unlock()
	p.closed, p.code, p.operations, p.script = true, nil, nil, nil
	return nil
}
