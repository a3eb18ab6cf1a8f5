package snapshot

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// pooled is an instance, with its memory, in the pool of an Image. Only one goroutine may use a
// pooled instance at a time.
type pooled struct {
	guest   api.Module
	memory  *memory
	globals []api.MutableGlobal
	values  []uint64 // the values of the globals in the image
	refused bool     // true if the guest requested more memory than it could get
}

// fixedMemory is a memory that wazero cannot free. wazero calls Free when the guest exits or
// another goroutine closes the guest. The machine code of the guest may then still write to the
// memory.
type fixedMemory struct{ *pooled }

// Reallocate also records failed requests of the guest.
func (l fixedMemory) Reallocate(size uint64) []byte {
	bytes := l.memory.Reallocate(size)
	l.refused = l.refused || bytes == nil
	return bytes
}

// Free does nothing. pooled.free releases the memory after the guest has returned.
func (fixedMemory) Free() {}

// instanceConfig is the configuration of all instances. Instances have no name, because names must
// be unique, and wazero must not call their start functions.
var instanceConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// newPooled returns a new instance in the state of the image.
func newPooled(ctx context.Context, i *Image) (*pooled, error) {
	memory, err := newMemory(i.source, i.options.MemoryBytes)
	if err != nil {
		return nil, err
	}
	// The memory is allocated first, because wazero panics if it cannot allocate the initial
	// memory.
	if memory.Reallocate(i.bytes) == nil {
		memory.Free()
		return nil, fmt.Errorf("%w: the system cannot provide %d bytes", ErrMemory, i.bytes)
	}
	c := &pooled{memory: memory}
	allocate := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return fixedMemory{c} })
	c.guest, err = i.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, allocate), i.compiled, instanceConfig)
	if err != nil {
		memory.Free()
		return nil, fmt.Errorf("instantiate snapshot: %w", err)
	}
	if err := c.fit(i); err != nil {
		_ = c.free(ctx)
		return nil, err
	}
	return c, nil
}

// fit grows the memory to the size of the image and sets the globals.
func (c *pooled) fit(i *Image) error {
	size := uint64(c.guest.Memory().Size())
	if size > i.bytes {
		return fmt.Errorf("instantiate snapshot: the compiled module does not match: the memory has %d bytes; want %d", size, i.bytes)
	}
	if _, ok := c.guest.Memory().Grow(uint32((i.bytes - size) / wasmPage)); !ok {
		return fmt.Errorf("%w: the runtime cannot provide %d bytes", ErrMemory, i.bytes)
	}
	for _, name := range i.module.globals {
		global, ok := c.guest.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return fmt.Errorf("instantiate snapshot: the compiled module does not match: the global %q is missing", name)
		}
		c.globals = append(c.globals, global)
	}
	if c.values = i.globals; c.values == nil {
		c.values = c.currentGlobals()
	}
	c.setGlobals()
	return nil
}

func (c *pooled) currentGlobals() []uint64 {
	values := make([]uint64, len(c.globals))
	for n, global := range c.globals {
		values[n] = global.Get()
	}
	return values
}

func (c *pooled) setGlobals() {
	for n, global := range c.globals {
		global.Set(c.values[n])
	}
}

// rewind resets the instance to the state of the image. rewind returns false if the instance cannot
// be reused. wazero can neither restart a guest that has exited nor shrink a memory.
func (c *pooled) rewind(i *Image) bool {
	if c.guest.IsClosed() || uint64(c.memory.size) != i.bytes || !c.memory.rewind() {
		return false
	}
	c.setGlobals()
	c.refused = false
	return true
}

func (c *pooled) free(ctx context.Context) error {
	err := c.guest.Close(ctx)
	c.memory.Free()
	return err
}
