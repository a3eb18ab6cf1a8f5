package extract

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract/pdfium"
)

// WithCompiled sets the folder to which pdfium.Compile has written the compiled PDF library. If the
// argument "dir" is "", no text is extracted from PDF files. Without WithCompiled, the engine
// compiles the library when it reads the first PDF. The compilation takes seconds.
func WithCompiled(dir string) Option {
	return func(e *Engine) { e.compiled, e.disabled = dir, dir == "" }
}

// Start starts the PDF library. If Start is not called, the first document starts the library.
func (e *Engine) Start(ctx context.Context) error {
	if e.disabled {
		return nil
	}
	_, err := e.library(ctx)
	return err
}

// library returns the PDF library. The first call starts the library.
func (e *Engine) library(ctx context.Context) (*pdfium.Library, error) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, engine.FaultFromContext(ctx)
	}
	if e.started != nil {
		return e.started, nil
	}
	started, err := pdfium.Open(ctx, e.compiled)
	if ctx.Err() != nil {
		return nil, engine.FaultFromContext(ctx)
	}
	if err != nil { // after this error, a worker pool compiles the library again
		return nil, abi.Faultf(abi.Unavailable, "cannot start the PDF library").WithHint("delete the folders `cells` and `plugins` in toolrun's cache folder, or sandbox.Options.CacheDir in a Go program, and retry")
	}
	e.started = started
	return started, nil
}

// Close frees the PDF library. The caller must first close all programs. Close can be called more
// than once.
func (e *Engine) Close() error {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	started := e.started
	if e.started = nil; started == nil {
		return nil
	}
	return started.Close()
}

// readPDF extracts the text of the pages and of the form fields on the pages. Form feeds separate
// the pages. The PDF library can use the memory limit of the run minus the memory that the document
// uses.
func (e *Engine) readPDF(ctx context.Context, data []byte, memory int64, out *sink) error {
	if e.disabled {
		return noText(Disabled, errors.New("no PDF library is available"))
	}
	library, err := e.library(ctx)
	if err != nil {
		return err
	}
	first := true
	err = library.Text(ctx, data, memory/2, func(text string) bool {
		if !first && !out.write("\f") {
			return false
		}
		first = false
		return out.write(text)
	})
	switch {
	case errors.Is(err, pdfium.ErrPassword):
		return noText(Encrypted, err)
	case errors.Is(err, pdfium.ErrFormat):
		return noText(Damaged, err)
	case errors.Is(err, pdfium.ErrLimit):
		return noText(TooComplex, err)
	}
	return err
}
