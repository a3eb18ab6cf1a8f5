package extract

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract/pdfium"
)

// WithCompiled takes the library that reads PDF as pdfium.Compile left it in a folder. If the folder is "", no text is read
// from PDF. Default: the first PDF has the library compiled, which takes seconds.
func WithCompiled(dir string) Option {
	return func(e *Engine) { e.compiled, e.disabled = dir, dir == "" }
}

// Start gets the library that reads PDF ready, which the first document does otherwise.
func (e *Engine) Start(ctx context.Context) error {
	if e.disabled {
		return nil
	}
	_, err := e.library(ctx)
	return err
}

// library returns the library that reads PDF, which it starts at first use.
func (e *Engine) library(ctx context.Context) (*pdfium.Library, error) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, engine.EndOf(ctx)
	}
	if e.started != nil {
		return e.started, nil
	}
	started, err := pdfium.Open(ctx, e.compiled)
	if ctx.Err() != nil {
		return nil, engine.EndOf(ctx)
	}
	if err != nil { // a pool of workers has the library compiled anew then
		return nil, abi.Faultf(abi.Unavailable, "the library that reads PDF cannot be started").WithHint("delete the cache of compiled code")
	}
	e.started = started
	return started, nil
}

// Close frees the library that reads PDF. Programs are closed before; closing twice is fine.
func (e *Engine) Close() error {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	started := e.started
	if e.started = nil; started == nil {
		return nil
	}
	return started.Close()
}

// readPDF reads what the pages show, fields of forms included, with a form feed between two pages. The library has the part of
// the memory that the document itself does not take.
func (e *Engine) readPDF(ctx context.Context, data []byte, memory int64, out *sink) error {
	if e.disabled {
		return noText(Disabled, errors.New("there is no library that reads PDF"))
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
