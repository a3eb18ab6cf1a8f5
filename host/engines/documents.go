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

// NewDocumentPool makes a pool of cells that read documents, whose one engine is what extract.Reader wants. It is not
// that of the tools: no tool can name the engine, and no upload takes a tool's cell. sandbox.Options.Languages is not looked
// at, Cells is by default the number of processors that Go uses. It is closed after its readers.
func NewDocumentPool(cells sandbox.Options) (*sandbox.Pool, error) {
	language := documents()
	if unsound(runtime.GOARCH) != "" && len(cells.Require) > 0 {
		language.Shared = nil // without which no text is read from PDF
	}
	cells.Languages = []sandbox.Language{language}
	cells.Cells = cmp.Or(cells.Cells, runtime.GOMAXPROCS(0))
	return sandbox.New(cells)
}

// documents are what cells read beside the languages of tools.
func documents() sandbox.Language {
	return sandbox.Language{
		MemoryFiles: true,
		Prepare:     pdfium.Prepare,
		MemoryBytes: extract.MemoryBytes,
		New: func(s sandbox.Setup) engine.Engine {
			return extract.New(extract.WithPanicLog(s.Panicked), extract.WithCompiled(s.CacheDir))
		},
		Shared: &sandbox.Shared{Key: pdfium.Version(), Make: compilePDFium, Start: startPDFium},
	}
}

func compilePDFium(ctx context.Context, s sandbox.Setup) error {
	return pdfium.Compile(ctx, s.CacheDir)
}

func startPDFium(ctx context.Context, e engine.Engine) {
	if d, ok := e.(*extract.Engine); ok {
		_ = d.Start(ctx) // loading the program tries again, and reports it
	}
}
