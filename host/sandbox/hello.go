package sandbox

import (
	"crypto/rand"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/toolrun/toolrun/abi"
)

// hello is what both ends say first: the parent how the cell is to be, the cell how it is.
type hello struct {
	version uint64
	build   string
	key     string // random; that it comes back shows that the other end is one of ours

	// The parent's:
	without []string // the layers to leave out
	outfit  outfit
	purpose uint64
	files   []string // that it may read, where it makes what is shared; they lie in the folder of its outfit

	namespaces bool // the cell has a user namespace of its own

	// The cell's:
	layers []Layer
}

// maxSharedFiles is how many files a language's Shared is made of at most.
const maxSharedFiles = 16

// newHello makes one with what both ends compare.
func newHello() hello { return hello{version: version, build: build(), key: rand.Text()} }

// outfit is what a cell may read beside what it is sent.
type outfit struct {
	folder      string // of the compiled code of its domain, "" for none
	language    string // whose Shared it is to start, "" for nobody's
	shared      string // the folder of that
	memoryFiles bool   // it may make memory files
	making      int    // which making of it, for the parent
}

// What a cell is for. All but the first write to the folder of their outfit, do one thing, and run no guest.
const (
	toRun     = iota
	toCompile // one source
	toMake    // what a language shares
)

func (h *hello) write(f *frame) {
	f.number(h.version).text(h.build).text(h.key).texts(h.without).text(h.outfit.folder).text(h.outfit.language).text(h.outfit.shared).number(bit(h.outfit.memoryFiles)).number(h.purpose).number(bit(h.namespaces)).texts(h.files).number(uint64(len(h.layers)))
	for _, l := range h.layers {
		f.text(l.Name).number(bit(l.On)).text(l.Detail)
	}
}

func (h *hello) read(f *fields) {
	h.version, h.build, h.key = f.number(), f.text(), f.text()
	h.without = f.texts(len(layers))
	h.outfit = outfit{folder: f.text(), language: f.text(), shared: f.text(), memoryFiles: f.number() == 1}
	h.purpose, h.namespaces, h.files = f.number(), f.number() == 1, f.texts(maxSharedFiles)
	for range f.count(len(layers)) {
		h.layers = append(h.layers, Layer{Name: f.text(), On: f.number() == 1, Detail: f.text()})
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// modulePath is how the module is called in the list of what a program was built from.
const modulePath = "github.com/toolrun/toolrun"

// build says what both ends are to agree in: the protocol, the contract with guests and the version of this module.
var build = sync.OnceValue(func() string {
	text := fmt.Sprintf("cell %d, ABI %d", version, abi.Version)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}
	if info.Main.Path == modulePath {
		return text + ", " + info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == modulePath {
			return text + ", " + m.Version
		}
	}
	return text
})
