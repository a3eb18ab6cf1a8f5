package sandbox

import (
	"crypto/rand"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/toolrun/toolrun/abi"
)

// hello is what both ends say first: the parent how the worker is to be, the worker how it is.
type handshake struct {
	version uint64
	build   string
	key     string // random; that it comes back shows that the other end is one of ours

	// The parent's:
	without []string // the layers to leave out
	mounts  mounts
	job     uint64
	files   []string // that it may read, where it makes what is shared; they lie in the folder of its outfit

	namespaces bool // the worker has a user namespace of its own

	// The worker's:
	layers []Layer
}

// maxSharedFiles is how many files a language's Shared is made of at most.
const maxSharedFiles = 16

// newHello makes one with what both ends compare.
func newHandshake() handshake { return handshake{version: version, build: build(), key: rand.Text()} }

// outfit is what a worker may read beside what it is sent.
type mounts struct {
	folder      string // of the compiled code of its domain, "" for none
	language    string // whose Shared it is to start, "" for nobody's
	shared      string // the folder of that
	memoryFiles bool   // it may make memory files
	generation  int    // which making of it, for the parent
}

// What a worker is for. All but the first write to the folder of their outfit, do one thing, and run no guest.
const (
	jobRun     = iota
	jobCompile // one source
	jobPrepare // what a language shares
)

func (h *handshake) write(f *frame) {
	f.number(h.version).text(h.build).text(h.key).texts(h.without).text(h.mounts.folder).text(h.mounts.language).text(h.mounts.shared).number(bit(h.mounts.memoryFiles)).number(h.job).number(bit(h.namespaces)).texts(h.files).number(uint64(len(h.layers)))
	for _, l := range h.layers {
		f.text(l.Name).number(bit(l.On)).text(l.Detail)
	}
}

func (h *handshake) read(f *fields) {
	h.version, h.build, h.key = f.number(), f.text(), f.text()
	h.without = f.texts(len(layers))
	h.mounts = mounts{folder: f.text(), language: f.text(), shared: f.text(), memoryFiles: f.number() == 1}
	h.job, h.namespaces, h.files = f.number(), f.number() == 1, f.texts(maxSharedFiles)
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
	text := fmt.Sprintf("worker %d, ABI %d", version, abi.Version)
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
