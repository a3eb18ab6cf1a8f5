package snapshot

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// clone is an instance with its memory: what the pool of an Image holds. It is used by one goroutine at a time.
type clone struct {
	guest   api.Module
	memory  *memory
	globals []api.MutableGlobal
	values  []uint64 // what the globals are in the image
	refused bool     // the guest was not given the memory that it asked for
}

// lentMemory is a memory whose end is not wazero's to decide: wazero frees it when the guest exits or is closed
// by another goroutine, that is while the guest's machine code may still write to it.
type lentMemory struct{ *clone }

// Reallocate notes where the guest gets no more.
func (l lentMemory) Reallocate(size uint64) []byte {
	bytes := l.memory.Reallocate(size)
	l.refused = l.refused || bytes == nil
	return bytes
}

// Free does nothing; clone.free does it when no guest runs any more.
func (lentMemory) Free() {}

// instanceConfig is for all instances: no name, so that there may be many, and nothing runs on its own.
var instanceConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// newClone makes an instance in the state of the image.
func newClone(ctx context.Context, i *Image) (*clone, error) {
	memory, err := newMemory(i.source, i.options.MemoryBytes)
	if err != nil {
		return nil, err
	}
	// wazero panics where it does not get the memory that an instance begins with; so ask before it does.
	if memory.Reallocate(i.bytes) == nil {
		memory.Free()
		return nil, fmt.Errorf("%w: the system does not give %d bytes", ErrMemory, i.bytes)
	}
	c := &clone{memory: memory}
	allocate := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return lentMemory{c} })
	c.guest, err = i.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, allocate), i.compiled, instanceConfig)
	if err != nil {
		memory.Free()
		return nil, fmt.Errorf("instantiate a snapshot: %w", err)
	}
	if err := c.fit(i); err != nil {
		_ = c.free(ctx)
		return nil, err
	}
	return c, nil
}

// fit grows the memory to the size that the image has, and sets the globals.
func (c *clone) fit(i *Image) error {
	size := uint64(c.guest.Memory().Size())
	if size > i.bytes {
		return fmt.Errorf("instantiate a snapshot: %d bytes of memory instead of %d; the compiled module is another one", size, i.bytes)
	}
	if _, ok := c.guest.Memory().Grow(uint32((i.bytes - size) / wasmPage)); !ok {
		return fmt.Errorf("%w: the runtime does not give %d bytes", ErrMemory, i.bytes)
	}
	for _, name := range i.module.globals {
		global, ok := c.guest.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return fmt.Errorf("instantiate a snapshot: no global %q; the compiled module is another one", name)
		}
		c.globals = append(c.globals, global)
	}
	if c.values = i.globals; c.values == nil {
		c.values = c.currentGlobals()
	}
	c.setGlobals()
	return nil
}

func (c *clone) currentGlobals() []uint64 {
	values := make([]uint64, len(c.globals))
	for n, global := range c.globals {
		values[n] = global.Get()
	}
	return values
}

func (c *clone) setGlobals() {
	for n, global := range c.globals {
		global.Set(c.values[n])
	}
}

// rewind puts the instance back into the state of the image, and returns false where it cannot be used again: a
// guest that exited is over, and wazero cannot make a memory smaller.
func (c *clone) rewind(i *Image) bool {
	if c.guest.IsClosed() || uint64(c.memory.size) != i.bytes || !c.memory.rewind() {
		return false
	}
	c.setGlobals()
	c.refused = false
	return true
}

func (c *clone) free(ctx context.Context) error {
	err := c.guest.Close(ctx)
	c.memory.Free()
	return err
}
