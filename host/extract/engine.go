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
	// MemoryBytes is the default memory limit of one extraction.
	MemoryBytes = 256 << 20
	// TextBytes is the default maximum number of bytes of an extracted UTF-8 text.
	TextBytes = 512 << 10
	// Extension is the file extension of the engine's only program. The source of the program is
	// ignored.
	Extension = ".document"
)

// Engine is an engine that extracts the text of documents. Each document is a separate run. Engine
// is safe for concurrent use.
//
// The input of a run is {"format": "pdf", "data": "<base64>"}. The optional member "text_bytes" of
// the input replaces the limit TextBytes. The output is {"text": "...", "truncated": false}, with a
// "reason" if no text exists. A run checks its context only after the parser has returned. If a
// document is hostile, the parser may never return. Therefore only a worker process enforces
// deadlines and memory limits.
type Engine struct {
	panicked func(value any, stack []byte)
	compiled string // the folder that contains the compiled PDF library
	disabled bool   // disabled is true if PDF files are not supported

	turn    chan struct{}   // protects the next field
	started *pdfium.Library // nil until the first PDF is read
}

var (
	_ engine.Engine          = (*Engine)(nil)
	_ engine.MemoryDefaulter = (*Engine)(nil)
)

// Option is an option of New.
type Option func(*Engine)

// WithPanicLog sets a function that is called if a parser panics unexpectedly. The function must be
// safe for concurrent use. A run in which a parser panics fails with an internal fault.
func WithPanicLog(log func(value any, stack []byte)) Option {
	return func(e *Engine) { e.panicked = log }
}

// New returns an Engine.
func New(options ...Option) *Engine {
	e := &Engine{panicked: func(any, []byte) {}, turn: make(chan struct{}, 1)}
	for _, option := range options {
		option(e)
	}
	return e
}

// Info returns the description of the engine.
func (*Engine) Info() engine.Info {
	return engine.Info{Name: "document", Extensions: []string{Extension}}
}

// MemoryBytes returns the default memory limit. Other engines have a lower limit. An extraction
// needs more memory, because two copies of the document and the content of a page are in RAM.
func (*Engine) MemoryBytes() int64 { return MemoryBytes }

// Load returns the only program and ignores the source. If the files in the folder that
// WithCompiled sets are damaged, the error is a fault with the code unavailable.
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
	open   engine.Inflight
}

var errClosed = errors.New("document: the program is closed")

// Run extracts the text of the document in the input.
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
		return engine.Output{}, engine.FaultFromContext(ctx)
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
		return engine.Output{}, abi.Faultf(abi.OutputLimit, "the output exceeds %d bytes", limit)
	}
	return engine.Output{Output: answer.Bytes()[:answer.Len()-1]}, nil // without the newline
}

// Close waits for active runs.
func (p *program) Close() error {
	p.open.Close()
	return nil
}

// read decodes an input and extracts the text of the document in it.
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
		err = abi.Faultf(abi.InvalidArgument, "text extraction does not support the format %q", shortened(r.Format))
	}
	return out.result(err)
}
