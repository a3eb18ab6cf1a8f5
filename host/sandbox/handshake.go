package sandbox

import (
	"crypto/rand"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/toolrun/toolrun/abi"
)

// handshake is the first message between the parent and the worker. The handshake of the parent
// configures the worker. The handshake of the worker reports which isolation layers are on.
type handshake struct {
	version uint64
	build   string
	key     string // a random number that the worker must return

	// Only the parent sends these fields:
	without []string // the layers to disable
	mounts  mounts
	job     uint64
	files   []string // the names of files in mounts.folder; jobPrepare reads these files

	namespaces bool // whether the worker has its own user namespace

	// Only the worker sends these fields:
	layers []Layer
}

// maxSharedFiles is the maximum number of files in Shared.Files.
const maxSharedFiles = 16

// newHandshake returns a handshake. The handshake contains only the fields that the parent and the
// worker compare.
func newHandshake() handshake { return handshake{version: version, build: build(), key: rand.Text()} }

// mounts describes the folders that a worker can access.
type mounts struct {
	folder      string // the folder of compiled code of the worker's domain, or ""
	language    string // the language whose Shared the worker starts, or ""
	shared      string // the folder of the shared state
	memoryFiles bool   // whether the worker can create memory files
	generation  int    // how many times the shared state was prepared (parent only)
}

// These constants are the jobs of a worker. If the job of a worker is not jobRun, the worker writes
// to mounts.folder, processes a single request and runs no guest.
const (
	jobRun     = iota
	jobCompile // compile one source
	jobPrepare // prepare the shared state of a language
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

// modulePath is the path of toolrun's Go module. The build information of a program contains this
// path.
const modulePath = "github.com/toolrun/toolrun"

// build returns the versions of the protocol, the ABI and toolrun. The parent and the worker must
// have equal versions.
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
