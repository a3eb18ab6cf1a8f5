package snapshot

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero/api"
)

// Instance is a guest that started from an image, with its own memory. It is used by one goroutine
// at a time.
type Instance struct {
	image  *Image
	pooled *pooled // nil when closed
}

// Restore returns an instance whose memory and globals equal those of the image, without traces of
// other runs. While all instances are in use it waits until ctx ends, and then returns the cause.
//
// Go guests are reseeded from random, nil for crypto/rand: math/rand, maps, and all other random
// data that does not come from the host. All other differences between runs must come from host
// functions. The clocks must be those that were used when the image was captured: Go programs do
// not expect the monotonic clock to run backwards.
func (i *Image) Restore(ctx context.Context, random io.Reader) (*Instance, error) {
	select {
	case i.semaphore <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c, err := i.acquire()
	if err != nil {
		<-i.semaphore
		return nil, err
	}
	if c == nil {
		c, err = newPooled(ctx, i)
	}
	if err != nil {
		i.release(1)
		<-i.semaphore
		return nil, err
	}
	in := &Instance{image: i, pooled: c}
	if err := in.seed(random); err != nil {
		return nil, err
	}
	return in, nil
}

// seed reseeds Go's generators.
func (in *Instance) seed(random io.Reader) error {
	if len(in.image.generators) == 0 {
		return nil
	}
	if random == nil {
		random = rand.Reader
	}
	if err := seedGoGenerators(in.bytes(), in.image.generators, random); err != nil {
		_ = in.Close(context.Background())
		return fmt.Errorf("seed a snapshot: %w", err)
	}
	return nil
}

// Guest returns the instance of wazero. It must not be used after Close.
func (in *Instance) Guest() api.Module { return in.pooled.guest }

// Globals returns all mutable globals, exported or not, in the order of the module. They must not
// be used after Close.
func (in *Instance) Globals() []api.MutableGlobal { return in.pooled.globals }

// LimitMemory bounds the memory of the instance, in bytes, until it is closed. The limit
// Options.MemoryBytes still applies. The error is an ErrMemory if the memory is already larger.
func (in *Instance) LimitMemory(bytes uint64) error {
	if has := uint64(len(in.bytes())); has > bytes {
		return fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrMemory, has, bytes)
	}
	in.pooled.memory.limit = bytes
	return nil
}

// Refused reports whether the guest requested memory beyond its limit since the instance was
// restored.
func (in *Instance) Refused() bool { return in.pooled.refused }

func (in *Instance) bytes() []byte { return in.pooled.memory.bytes() }

// Initialize runs the start function and then _initialize, if the module has them, with the context
// ctx. It is for instances of an image from Load.
func (in *Instance) Initialize(ctx context.Context) error {
	for _, name := range []string{startExport, "_initialize"} {
		if f := in.pooled.guest.ExportedFunction(name); f != nil {
			if _, err := f.Call(ctx); err != nil {
				return fmt.Errorf("initialize the module: %w", err)
			}
		}
	}
	return nil
}

// Capture returns an image of the current state of the instance. It may be called in a host
// function; the image does not include the frames of the guest's call. It is independent of the
// image that the instance is from.
func (in *Instance) Capture() (*Image, error) {
	from := in.image
	next := &Image{
		runtime: from.runtime, compiled: from.compiled, module: from.module, options: from.options,
		bytes: uint64(len(in.bytes())), globals: in.pooled.currentGlobals(), generators: from.generators,
	}
	return next.with(in.pooled.memory.capture)
}

// Close returns the instance to the pool. It resets the instance to the state of the image, or
// frees it if that is impossible. None of its functions may be running. Close may be called twice.
func (in *Instance) Close(ctx context.Context) error {
	return in.close(ctx, true)
}

// Discard closes an instance like Close, but does not reuse it.
func (in *Instance) Discard(ctx context.Context) error {
	return in.close(ctx, false)
}

func (in *Instance) close(ctx context.Context, keep bool) error {
	c := in.pooled
	if c == nil {
		return nil
	}
	in.pooled = nil
	var err error
	if !keep || !c.rewind(in.image) || !in.image.putIdle(c) {
		err = c.free(ctx)
	}
	in.image.release(1)
	<-in.image.semaphore
	return err
}
