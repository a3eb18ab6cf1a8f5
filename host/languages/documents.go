package languages

import (
	"cmp"
	"runtime"

	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/document"
)

// NewDocumentPool makes a pool of cells that read documents, whose one engine is what document.Reader wants. It is not
// that of the tools: no tool can name the engine, and no upload takes a tool's cell. cell.Options.Languages is not looked
// at, Cells is by default the number of processors that Go uses. It is closed after its readers.
func NewDocumentPool(cells cell.Options) (*cell.Pool, error) {
	cells.Languages = []cell.Language{documents()}
	cells.Cells = cmp.Or(cells.Cells, runtime.GOMAXPROCS(0))
	return cell.New(cells)
}

// documents are what cells read beside the languages of tools.
func documents() cell.Language {
	return cell.Language{MemoryBytes: document.MemoryBytes, New: func(s cell.Setup) engine.Engine {
		return document.New(document.WithPanicLog(s.Panicked))
	}}
}
