package engines

import (
	"cmp"
	"context"
	"runtime"

	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/extract/pdfium"
	"github.com/toolrun/toolrun/host/sandbox"
)

// NewDocumentPool returns a pool of workers that extract text from uploaded documents. The pool
// contains only the engine that extract.Reader needs. Tools run in another pool. Therefore tools
// cannot use this engine, and uploads do not occupy the workers of tools. NewDocumentPool ignores
// sandbox.Options.Languages. The default of sandbox.Options.Workers is the number of processors
// that Go uses. Close all readers before you close the pool.
func NewDocumentPool(opts sandbox.Options) (*sandbox.Pool, error) {
	language := documents()
	if unsound(runtime.GOARCH) != "" && len(opts.Require) > 0 {
		language.Shared = nil // without the PDF library, no text is extracted from PDF files
	}
	opts.Languages = []sandbox.Language{language}
	opts.Workers = cmp.Or(opts.Workers, runtime.GOMAXPROCS(0))
	return sandbox.New(opts)
}

// documents returns the engine with which a worker extracts text from documents.
func documents() sandbox.Language {
	return sandbox.Language{
		MemoryFiles:    true,
		BeforeLockdown: pdfium.Prepare,
		MemoryBytes:    extract.MemoryBytes,
		New: func(s sandbox.Setup) engine.Engine {
			return extract.New(extract.WithPanicLog(s.Panicked), extract.WithCompiled(s.CacheDir))
		},
		Shared: &sandbox.Shared{Key: pdfium.Version(), Prepare: compilePDFium, Start: startPDFium},
	}
}

func compilePDFium(ctx context.Context, s sandbox.Setup) error {
	return pdfium.Compile(ctx, s.CacheDir)
}

func startPDFium(ctx context.Context, e engine.Engine) {
	if d, ok := e.(*extract.Engine); ok {
		_ = d.Start(ctx) // the first load of the program tries again and reports the error
	}
}
