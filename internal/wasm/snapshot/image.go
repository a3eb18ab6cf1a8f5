package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
)

// Options limit the resources of an Image. If a field is zero, its default applies.
type Options struct {
	// MemoryBytes is the maximum memory of an instance, in bytes. Address space of MemoryBytes is
	// reserved for each instance, so that its memory can grow without being copied. The default is
	// 64 MiB.
	MemoryBytes uint64
	// Instances is the maximum number of instances, including idle instances. The default is 64.
	Instances int
	// Idle is the maximum number of idle instances that are kept for later runs. The default is 4.
	Idle int
}

// The defaults of Options.
const (
	DefaultMemoryBytes = 64 << 20
	DefaultInstances   = 64
	DefaultIdle        = 4
)

// maxMemoryBytes is the range of 32-bit addresses minus a page. maxMemoryBytes must fit in 32 bits,
// because wazero returns the size as a uint32.
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

// Image is the captured state of an instance: its memory and its globals. Image is safe for
// concurrent use.
type Image struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	module   *Module
	options  Options

	source     *source
	bytes      uint64   // memory size in bytes
	globals    []uint64 // the globals, in the order of Module.globals
	generators []int    // the addresses of the Go runtime's random generators

	semaphore chan struct{} // the channel contains one element for each instance in use
	mu        sync.Mutex
	idle      []*pooled
	borrowed  int // the number of instances in use
	closed    bool
}

// Load returns the image of a module before any of its code has run. The memory of the image
// contains only the data segments. The argument "compiled" must be m.Binary, compiled by this
// runtime. The runtime and the compiled module must stay open as long as this image and the images
// derived from it. Imported functions must not keep state per instance, because later runs may
// reuse an instance.
func Load(runtime wazero.Runtime, compiled wazero.CompiledModule, m *Module, o Options) (*Image, error) {
	base := &Image{runtime: runtime, compiled: compiled, module: m, options: o.withDefaults(), bytes: m.bytes}
	return base.with(func() (*source, error) { return newSource(m.memory) })
}

// The method "with" sets the source of the memory, and prepares the image for use.
func (i *Image) with(create func() (*source, error)) (*Image, error) {
	if i.bytes > i.options.MemoryBytes {
		return nil, fmt.Errorf("%w: the initial memory has %d bytes; the limit is %d", ErrMemory, i.bytes, i.options.MemoryBytes)
	}
	var err error
	if i.source, err = create(); err != nil {
		return nil, err
	}
	i.semaphore = make(chan struct{}, i.options.Instances)
	return i, nil
}

// Close frees the idle instances. Instances in use stay usable, and each instance is freed when it
// is closed. The image itself is freed after its last instance. Close must be called before the
// runtime is closed. Close may be called more than once.
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

// acquire borrows an idle instance until release is called. If no idle instance exists, acquire
// returns nil, and the caller must create an instance.
func (i *Image) acquire() (*pooled, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, ErrClosed
	}
	i.borrowed++
	if len(i.idle) == 0 {
		return nil, nil
	}
	last := len(i.idle) - 1
	c := i.idle[last]
	i.idle = i.idle[:last]
	return c, nil
}

// putIdle makes an instance idle. putIdle returns false if there are already enough idle instances
// or the image is closed.
func (i *Image) putIdle(c *pooled) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || len(i.idle) >= i.options.Idle {
		return false
	}
	i.idle = append(i.idle, c)
	return true
}

// release ends the use of n borrowed instances. After the last use, release frees the image if the
// image is closed.
func (i *Image) release(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.borrowed -= n
	if i.closed && i.borrowed == 0 {
		i.source.close()
	}
}
