package languages

import (
	"cmp"
	"context"
	"runtime"

	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/document"
	"github.com/toolrun/toolrun/host/engine/document/pdfium"
)

// NewDocumentPool makes a pool of cells that read documents, whose one engine is what document.Reader wants. It is not
// that of the tools: no tool can name the engine, and no upload takes a tool's cell. cell.Options.Languages is not looked
// at, Cells is by default the number of processors that Go uses. It is closed after its readers.
func NewDocumentPool(cells cell.Options) (*cell.Pool, error) {
	language := documents()
	if unsound(runtime.GOARCH) != "" && len(cells.Require) > 0 {
		language.Shared = nil // without which no text is read from PDF
	}
	cells.Languages = []cell.Language{language}
	cells.Cells = cmp.Or(cells.Cells, runtime.GOMAXPROCS(0))
	return cell.New(cells)
}

// documents are what cells read beside the languages of tools.
func documents() cell.Language {
	return cell.Language{
		MemoryFiles: true,
		Prepare:     pdfium.Prepare,
		MemoryBytes: document.MemoryBytes,
		New: func(s cell.Setup) engine.Engine {
			return document.New(document.WithPanicLog(s.Panicked), document.WithCompiled(s.CacheDir))
		},
		Shared: &cell.Shared{Key: pdfium.Version(), Make: compilePDFium, Start: startPDFium},
	}
}

func compilePDFium(ctx context.Context, s cell.Setup) error { return pdfium.Compile(ctx, s.CacheDir) }

func startPDFium(ctx context.Context, e engine.Engine) {
	if d, ok := e.(*document.Engine); ok {
		_ = d.Start(ctx) // loading the program tries again, and reports it
	}
}
