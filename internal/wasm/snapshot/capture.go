package snapshot

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"
)

// NondeterminismProbe provides random bytes and clocks to the WASI functions of a guest during its
// initialization. NondeterminismProbe records whether the guest used random bytes or clocks. The
// zero value of a NondeterminismProbe can be used for one initialization. Only one goroutine may
// use a NondeterminismProbe at a time.
type NondeterminismProbe struct {
	// Random, Wall and Monotonic are the underlying sources. By default, Random is crypto/rand,
	// Wall is time.Now, and Monotonic is the time since the first call plus 1.
	Random    io.Reader
	Wall      func() time.Time
	Monotonic func() int64

	start  time.Time
	reads  int    // the number of calls to Read
	random []byte // the result of the first Read
	clock  bool
	mono   bool
}

// Read implements random_get.
func (w *NondeterminismProbe) Read(p []byte) (int, error) {
	source := w.Random
	if source == nil {
		source = rand.Reader
	}
	n, err := source.Read(p)
	if w.reads == 0 {
		w.random = append([]byte(nil), p[:n]...)
	}
	w.reads++
	return n, err
}

// Walltime implements clock_time_get for the realtime clock.
func (w *NondeterminismProbe) Walltime() time.Time {
	w.clock = true
	if w.Wall == nil {
		return time.Now()
	}
	return w.Wall()
}

// Nanotime implements clock_time_get for the monotonic clock, in nanoseconds.
func (w *NondeterminismProbe) Nanotime() int64 {
	w.mono = true
	if w.Monotonic != nil {
		return w.Monotonic()
	}
	if w.start.IsZero() {
		w.start = time.Now()
	}
	return int64(time.Since(w.start)) + 1
}

// CaptureInitialized initializes an instance of an image from Load and returns an image of the
// result. ctx is the context for the initialization. The host functions must use the random bytes
// and clocks of w.
//
// If the guest read the realtime clock, random bytes or the monotonic clock, the error is an
// ErrVaries, because these values differ between runs. The random bytes that the Go runtime reads
// at startup are an exception, because Restore reseeds the runtime; see goreseed.go. If the
// initialization of a Go program uses math/rand, CaptureInitialized does not detect this use, and
// the numbers are the same in all runs.
//
// The image contains the arguments and the environment of the guest.
func CaptureInitialized(ctx context.Context, base *Image, w *NondeterminismProbe) (*Image, error) {
	in, err := base.Restore(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer in.Close(ctx)
	if err := in.Initialize(ctx); err != nil {
		return nil, err
	}
	generators, err := w.classify(ctx, in.bytes())
	if err != nil {
		return nil, err
	}
	image, err := in.Capture()
	if err != nil {
		return nil, err
	}
	image.generators = generators
	return image, nil
}

// classify returns the addresses of the Go runtime's generators in memory. classify returns an
// error if the memory differs between runs for any other reason.
func (w *NondeterminismProbe) classify(ctx context.Context, memory []byte) (generators []int, err error) {
	if w.clock {
		return nil, fmt.Errorf("%w: the initialization reads the real-time clock", ErrVaries)
	}
	if w.reads == 1 && len(w.random) == goSeedSize {
		if generators, err = findGoGenerators(ctx, memory, w.random); err != nil {
			return nil, err
		}
	}
	switch {
	case len(generators) > 0:
		return generators, nil
	case w.reads > 0:
		return nil, fmt.Errorf("%w: the initialization reads random numbers", ErrVaries)
	case w.mono:
		return nil, fmt.Errorf("%w: the initialization reads the monotonic clock", ErrVaries)
	}
	return nil, nil
}
