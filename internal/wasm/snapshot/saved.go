package snapshot

import (
	"fmt"

	"github.com/tetratelabs/wazero"
)

// Saved is the state of an image except its memory. Saved can be encoded as JSON.
type Saved struct {
	Bytes      uint64   `json:"bytes"`                // memory size in bytes
	Globals    []uint64 `json:"globals"`              // in module order
	Generators []int    `json:"generators,omitempty"` // the addresses of the Go runtime's random generators
}

// Save writes the memory of an image to a new file, which Open can read. The file contains all data
// in the guest's memory.
func (i *Image) Save(file string) (Saved, error) {
	if err := i.source.save(file); err != nil {
		return Saved{}, fmt.Errorf("save image: %w", err)
	}
	return Saved{i.bytes, i.globals, i.generators}, nil
}

// Release frees the data that is needed only for compiling the module and for Load. The freed data
// makes up most of a Module. Existing images are not affected.
func (m *Module) Release() { m.Binary, m.memory = nil, nil }

// Open opens an image that Save has written, in this process or in another process. The runtime and
// the compiled module must meet the same requirements as for Load. m must be the module of the
// image. If the system supports it, instances map the file itself and thus share unwritten pages
// with other processes. The file must not change while the image is open. The content of the file
// is trusted.
func Open(runtime wazero.Runtime, compiled wazero.CompiledModule, m *Module, o Options, file string, saved Saved) (*Image, error) {
	if len(saved.Globals) != len(m.globals) || saved.Bytes < m.bytes {
		return nil, fmt.Errorf("open image: the image belongs to another module")
	}
	i := &Image{
		runtime: runtime, compiled: compiled, module: m, options: o.withDefaults(),
		bytes: saved.Bytes, globals: saved.Globals, generators: saved.Generators,
	}
	return i.with(func() (*source, error) { return openSource(file) })
}
