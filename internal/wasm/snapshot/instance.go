package snapshot

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero/api"
)

// Instance is a guest in the state of an image, with a memory of its own. It is used by one goroutine at a time.
type Instance struct {
	image *Image
	clone *clone // nil when closed
}

// Restore returns an instance that no run has seen: each byte of its memory, each global is that of the image.
// It waits while all instances are in use, at most until ctx ends, whose cause it then returns.
//
// Go guests get a new seed from random for math/rand, maps and whatever else is random without asking the host;
// nil is crypto/rand. Every other difference between runs has to come from the host functions. The clocks have
// to be those that were there when the image was taken: Go programs do not expect that the monotonic clock runs
// back.
func (i *Image) Restore(ctx context.Context, random io.Reader) (*Instance, error) {
	select {
	case i.places <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c, err := i.take()
	if err != nil {
		<-i.places
		return nil, err
	}
	if c == nil {
		c, err = newClone(ctx, i)
	}
	if err != nil {
		i.release(1)
		<-i.places
		return nil, err
	}
	in := &Instance{image: i, clone: c}
	if err := in.seed(random); err != nil {
		return nil, err
	}
	return in, nil
}

// seed gives Go's generators a new seed.
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

// Guest is the instance as wazero has it. It must not be used after Close.
func (in *Instance) Guest() api.Module { return in.clone.guest }

// Globals are the module's mutable globals, exported or not, in the order of the module. They must not be used after
// Close.
func (in *Instance) Globals() []api.MutableGlobal { return in.clone.globals }

// LimitMemory bounds the instance's memory until it is closed, in bytes: the guest cannot grow it further. More
// than Options.MemoryBytes is as much as that. The error is an ErrMemory where it is larger already.
func (in *Instance) LimitMemory(bytes uint64) error {
	if has := uint64(len(in.bytes())); has > bytes {
		return fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrMemory, has, bytes)
	}
	in.clone.memory.limit = bytes
	return nil
}

// Refused reports whether the guest asked for more memory than it may have, since the instance was restored.
func (in *Instance) Refused() bool { return in.clone.refused }

func (in *Instance) bytes() []byte { return in.clone.memory.bytes() }

// Initialize runs what a module wants to have run before its other functions: its start function, then
// _initialize, where there is one. ctx is that of the calls. It is for instances of an image from Load.
func (in *Instance) Initialize(ctx context.Context) error {
	for _, name := range []string{startExport, "_initialize"} {
		if f := in.clone.guest.ExportedFunction(name); f != nil {
			if _, err := f.Call(ctx); err != nil {
				return fmt.Errorf("initialize the module: %w", err)
			}
		}
	}
	return nil
}

// Capture returns an image of the instance as it is now. It may be called in a host function that the guest
// called: then the frames of that call are no part of the image. The image is independent of the one that the
// instance is from.
func (in *Instance) Capture() (*Image, error) {
	from := in.image
	next := &Image{
		runtime: from.runtime, compiled: from.compiled, module: from.module, options: from.options,
		bytes: uint64(len(in.bytes())), globals: in.clone.currentGlobals(), generators: from.generators,
	}
	return next.with(in.clone.memory.picture)
}

// Close gives the instance back: it is put into the state of the image, or freed where that cannot be. None of
// its functions may be running. Closing twice is fine.
func (in *Instance) Close(ctx context.Context) error {
	return in.close(ctx, true)
}

// Discard closes an instance as Close does, but for that it is never used again.
func (in *Instance) Discard(ctx context.Context) error {
	return in.close(ctx, false)
}

func (in *Instance) close(ctx context.Context, keep bool) error {
	c := in.clone
	if c == nil {
		return nil
	}
	in.clone = nil
	var err error
	if !keep || !c.rewind(in.image) || !in.image.keep(c) {
		err = c.free(ctx)
	}
	in.image.release(1)
	<-in.image.places
	return err
}
