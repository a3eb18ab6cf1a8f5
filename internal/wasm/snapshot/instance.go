package snapshot

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero/api"
)

// Instance is a guest that started from an image and has its own memory. Only one goroutine may use
// an Instance at a time.
type Instance struct {
	image  *Image
	pooled *pooled // nil when closed
}

// Restore returns an instance whose memory and globals equal the memory and the globals of the
// image. The instance contains no traces of other runs. If all instances are in use, Restore waits
// for one. If ctx ends before an instance is free, Restore returns the cause of the end.
//
// Go guests are reseeded with bytes from random. If random is nil, crypto/rand is used. Reseeding
// affects math/rand, maps and all other random data that does not come from the host. All other
// differences between runs must come from host functions. Use the clocks that were used for the
// capture of the image, because Go programs do not expect the monotonic clock to run backward.
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

// seed reseeds the random generators of a Go guest.
func (in *Instance) seed(random io.Reader) error {
	if len(in.image.generators) == 0 {
		return nil
	}
	if random == nil {
		random = rand.Reader
	}
	if err := seedGoGenerators(in.bytes(), in.image.generators, random); err != nil {
		_ = in.Close(context.Background())
		return fmt.Errorf("seed snapshot: %w", err)
	}
	return nil
}

// Guest returns the wazero instance. The wazero instance must not be used after Close.
func (in *Instance) Guest() api.Module { return in.pooled.guest }

// Globals returns all mutable globals in module order, including globals that the module does not
// export. The globals must not be used after Close.
func (in *Instance) Globals() []api.MutableGlobal { return in.pooled.globals }

// LimitMemory sets the maximum memory of the instance in bytes until the instance is closed. The
// limit Options.MemoryBytes still applies. If the memory already exceeds the new limit, the error
// is an ErrMemory.
func (in *Instance) LimitMemory(bytes uint64) error {
	if has := uint64(len(in.bytes())); has > bytes {
		return fmt.Errorf("%w: the memory has %d bytes; the limit is %d", ErrMemory, has, bytes)
	}
	in.pooled.memory.limit = bytes
	return nil
}

// Refused reports whether the guest requested memory beyond its limit since the last Restore.
func (in *Instance) Refused() bool { return in.pooled.refused }

func (in *Instance) bytes() []byte { return in.pooled.memory.bytes() }

// Initialize runs the start function and then _initialize, if the module has these functions. ctx
// is the context of both calls. Call Initialize only for an instance whose image was returned by
// Load.
func (in *Instance) Initialize(ctx context.Context) error {
	for _, name := range []string{startExport, "_initialize"} {
		if f := in.pooled.guest.ExportedFunction(name); f != nil {
			if _, err := f.Call(ctx); err != nil {
				return fmt.Errorf("initialize module: %w", err)
			}
		}
	}
	return nil
}

// Capture returns an image of the current state of the instance. Capture may be called in a host
// function. The image does not include the stack frames of the current call. The new image does not
// depend on the image from which the instance was restored.
func (in *Instance) Capture() (*Image, error) {
	from := in.image
	next := &Image{
		runtime: from.runtime, compiled: from.compiled, module: from.module, options: from.options,
		bytes: uint64(len(in.bytes())), globals: in.pooled.currentGlobals(), generators: from.generators,
	}
	return next.with(in.pooled.memory.capture)
}

// Close returns the instance to the pool. Close resets the instance to the state of the image. If
// the reset is impossible, Close frees the instance. No function of the instance may be running.
// Close may be called more than once.
func (in *Instance) Close(ctx context.Context) error {
	return in.close(ctx, true)
}

// Discard closes an instance like Close, but the instance is not reused.
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
