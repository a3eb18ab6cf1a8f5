package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
)

// Options bound what an Image holds. A zero field means the default that its comment names.
type Options struct {
	// MemoryBytes bounds the memory of an instance, in bytes. So much address space is reserved for each, so that
	// growing copies nothing. Default 64 MiB.
	MemoryBytes uint64
	// Instances bounds the instances that there are at once, idle ones included. Default 64.
	Instances int
	// Idle bounds the instances that are kept ready for the next run. Default 4.
	Idle int
}

// The defaults of Options.
const (
	DefaultMemoryBytes = 64 << 20
	DefaultInstances   = 64
	DefaultIdle        = 4
)

// maxMemoryBytes is what 32-bit addresses reach, less a page: so that the size itself fits 32 bits, as which
// wazero returns it.
const maxMemoryBytes = 4<<30 - wasmPage

func (o Options) withDefaults() Options {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMemoryBytes
	}
	o.MemoryBytes = min(o.MemoryBytes, maxMemoryBytes)
	if o.Instances <= 0 {
		o.Instances = DefaultInstances
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	return o
}

// Image is the state of an instance at one moment: its memory and its globals. It is safe for concurrent use.
type Image struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	module   *Module
	options  Options

	source     *source
	bytes      uint64   // the size of the memory
	globals    []uint64 // in the order of Module.globals
	generators []int    // where the Go runtime's random generators are in the memory

	places chan struct{} // one element for each instance that a caller has
	mu     sync.Mutex
	idle   []*clone
	lent   int // instances that callers have, and images being copied
	closed bool
}

// Load returns the image of a module before any of its code ran: its data in its memory. The compiled module is
// that of m.Binary, compiled by this runtime; both must stay open as long as any image made from this one. The
// functions that the module imports must keep nothing that belongs to an instance, for the next run may get the
// same one again.
func Load(runtime wazero.Runtime, compiled wazero.CompiledModule, m *Module, o Options) (*Image, error) {
	base := &Image{runtime: runtime, compiled: compiled, module: m, options: o.withDefaults(), bytes: m.bytes}
	return base.with(func() (*source, error) { return newSource(m.memory) })
}

// with makes the image ready for use: its memory begins with a source.
func (i *Image) with(create func() (*source, error)) (*Image, error) {
	if i.bytes > i.options.MemoryBytes {
		return nil, fmt.Errorf("%w: %d bytes at the start; the limit is %d", ErrMemory, i.bytes, i.options.MemoryBytes)
	}
	var err error
	if i.source, err = create(); err != nil {
		return nil, err
	}
	i.places = make(chan struct{}, i.options.Instances)
	return i, nil
}

// Close frees the instances that are idle. Those that callers have stay usable; each is freed when it is
// closed, the image with the last. Closing twice is fine. It is called before the runtime is closed.
func (i *Image) Close(ctx context.Context) error {
	i.mu.Lock()
	idle := i.idle
	i.idle, i.closed = nil, true
	i.mu.Unlock()

	var errs []error
	for _, c := range idle {
		errs = append(errs, c.free(ctx))
	}
	i.release(0)
	return errors.Join(errs...)
}

// take returns an idle instance, nil where there is none. The caller has it lent until release.
func (i *Image) take() (*clone, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, ErrClosed
	}
	i.lent++
	if len(i.idle) == 0 {
		return nil, nil
	}
	last := len(i.idle) - 1
	c := i.idle[last]
	i.idle = i.idle[:last]
	return c, nil
}

// keep makes an instance idle. It returns false where there are enough, or the image is closed.
func (i *Image) keep(c *clone) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || len(i.idle) >= i.options.Idle {
		return false
	}
	i.idle = append(i.idle, c)
	return true
}

// release ends the use of lent instances, and frees the image after the last use of a closed one.
func (i *Image) release(lent int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lent -= lent
	if i.closed && i.lent == 0 {
		i.source.close()
	}
}
