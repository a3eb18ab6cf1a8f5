package snapshot

import (
	"fmt"

	"github.com/tetratelabs/wazero"
)

// Saved is what there is to an image beside its memory. It can be written as JSON.
type Saved struct {
	Bytes      uint64   `json:"bytes"`                // the size of the memory
	Globals    []uint64 `json:"globals"`              // in the order of the module
	Generators []int    `json:"generators,omitempty"` // where the Go runtime's random generators are
}

// Save writes the memory of an image to a file, which is made anew, for Open. The file holds whatever the guest had in
// its memory.
func (i *Image) Save(file string) (Saved, error) {
	if err := i.source.save(file); err != nil {
		return Saved{}, fmt.Errorf("save an image: %w", err)
	}
	return Saved{i.bytes, i.globals, i.generators}, nil
}

// Release drops what only compiling the module and Load need, which is most of it. Images that were made of it stay as they
// are.
func (m *Module) Release() { m.Binary, m.memory = nil, nil }

// Open returns an image that Save has written, in this process or another one. The runtime, the compiled module and m are
// as for Load; m is to be the module that the image was of. Where the system can, instances map the file itself, and so
// share what they only read with all processes that do. The file must not be changed while the image is open, and what
// it holds is trusted.
func Open(runtime wazero.Runtime, compiled wazero.CompiledModule, m *Module, o Options, file string, saved Saved) (*Image, error) {
	if len(saved.Globals) != len(m.globals) || saved.Bytes < m.bytes {
		return nil, fmt.Errorf("open an image: it is of another module")
	}
	i := &Image{
		runtime: runtime, compiled: compiled, module: m, options: o.withDefaults(),
		bytes: saved.Bytes, globals: saved.Globals, generators: saved.Generators,
	}
	return i.with(func() (*source, error) { return openSource(file) })
}
