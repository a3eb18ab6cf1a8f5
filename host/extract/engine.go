package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract/pdfium"
)

const (
	// MemoryBytes is the memory of a run whose Limits say nothing of it.
	MemoryBytes = 256 << 20
	// TextBytes is how much text a run answers that asks for no other size, as UTF-8.
	TextBytes = 512 << 10
	// Extension is that of the one program there is, whose source is not looked at.
	Extension = ".document"
)

// Engine reads the text of documents, each in a run of its own. It is safe for concurrent use.
//
// The input of a run is {"format": "pdf", "data": "<base64>"}, with "text_bytes" where another size than TextBytes is
// wanted, the answer {"text": "...", "truncated": false}, with a "reason" if there is no text. A run looks at its context
// whenever a parser gives it the opportunity, which a document can prevent: only in a cell its deadline and its memory are
// kept for sure.
type Engine struct {
	panicked func(value any, stack []byte)
	compiled string // a folder that holds the compiled library for PDF
	disabled bool   // there is none

	turn    chan struct{}   // holds an element while somebody has what follows
	started *pdfium.Library // nil until it is needed
}

var (
	_ engine.Engine = (*Engine)(nil)
	_ engine.Sized  = (*Engine)(nil)
)

// Option changes how an Engine behaves.
type Option func(*Engine)

// WithPanicLog hands over what a panic of a parser left behind that nothing explains, and which the run answers with an
// internal fault. The function may be called by many goroutines.
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New makes an Engine.
func New(options ...Option) *Engine {
	e := &Engine{panicked: func(any, []byte) {}, turn: make(chan struct{}, 1)}
	for _, option := range options {
		option(e)
	}
	return e
}

// Info describes the engine.
func (*Engine) Info() engine.Info {
	return engine.Info{Name: "document", Extensions: []string{Extension}}
}

// MemoryBytes is more than that of other engines: a document is there twice, and what a page shows beside it.
func (*Engine) MemoryBytes() int64 { return MemoryBytes }

// Load makes the program, which is the same whatever the source. The fault is unavailable if the folder of WithCompiled does
// not hold what it should.
func (e *Engine) Load(ctx context.Context, _ engine.Source) (engine.Program, error) {
	if e.compiled != "" {
		if err := e.Start(ctx); err != nil {
			return nil, err
		}
	}
	return &program{engine: e}, nil
}

type program struct {
	engine *Engine
	open   engine.Door
}

var errClosed = errors.New("document: the program is closed")

// Run reads a document.
func (p *program) Run(ctx context.Context, in engine.Input, _ engine.Host) (out engine.Output, err error) {
	if !p.open.Enter() {
		return engine.Output{}, errClosed
	}
	defer p.open.Leave()
	defer func() {
		if value := recover(); value != nil {
			p.engine.panicked(value, debug.Stack())
			out, err = engine.Output{}, abi.Faultf(abi.Internal, "an internal error; the host's log has the details")
		}
	}()
	text, err := p.engine.read(ctx, in)
	if ctx.Err() != nil {
		return engine.Output{}, engine.EndOf(ctx)
	}
	if err != nil {
		return engine.Output{}, err
	}
	limit := cmp.Or(in.Limits.OutputBytes, engine.DefaultOutputBytes)
	var answer bytes.Buffer
	encoder := json.NewEncoder(&answer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return engine.Output{}, err
	}
	if answer.Len()-1 > limit {
		return engine.Output{}, abi.Faultf(abi.OutputLimit, "the output is larger than %d bytes", limit)
	}
	return engine.Output{Output: answer.Bytes()[:answer.Len()-1]}, nil // without the newline
}

// Close waits for the runs under way.
func (p *program) Close() error {
	p.open.Close()
	return nil
}

// read reads the document of an input.
func (e *Engine) read(ctx context.Context, in engine.Input) (Text, error) {
	r, err := requestOf(in.Input)
	if err != nil {
		return Text{}, err
	}
	out := &sink{limit: cmp.Or(max(r.TextBytes, 0), TextBytes)}
	switch r.Format {
	case formatPDF:
		err = e.readPDF(ctx, r.Data, cmp.Or(in.Limits.MemoryBytes, MemoryBytes), out)
	case formatDOCX:
		err = readDOCX(ctx, r.Data, out)
	case formatTXT:
		err = readText(r.Data, out)
	case formatJSON:
		err = readJSON(r.Data, out)
	default:
		err = abi.Faultf(abi.InvalidArgument, "no text is read from the format %q", shortened(r.Format))
	}
	return out.result(err)
}
