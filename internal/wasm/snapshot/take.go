package snapshot

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"
)

// Witness stands between a guest and what differs from run to run while the guest is initialised, and remembers
// what it asked for: its methods are the random source and the clocks of the guest's WASI. The zero value is
// for use once, by one goroutine at a time.
type Witness struct {
	// Random, Wall and Monotonic are the real sources. Defaults crypto/rand, time.Now, and the time since the
	// first question, from 1 on.
	Random    io.Reader
	Wall      func() time.Time
	Monotonic func() int64

	start  time.Time
	reads  int    // how often random bytes were read
	random []byte // what was answered the first time
	wall   bool
	mono   bool
}

// Read answers random_get.
func (w *Witness) Read(p []byte) (int, error) {
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

// Walltime answers clock_time_get for the time of day.
func (w *Witness) Walltime() time.Time {
	w.wall = true
	if w.Wall == nil {
		return time.Now()
	}
	return w.Wall()
}

// Nanotime answers clock_time_get for the monotonic clock, in nanoseconds.
func (w *Witness) Nanotime() int64 {
	w.mono = true
	if w.Monotonic != nil {
		return w.Monotonic()
	}
	if w.start.IsZero() {
		w.start = time.Now()
	}
	return int64(time.Since(w.start)) + 1
}

// Take initialises an instance of an image from Load, in the context ctx, and returns the image of it. The
// functions that the guest calls have to take random bytes and time from w.
//
// The error is an ErrVaries where the guest asked for what is another for each run: for the time of day, or for
// random bytes, or, unless it is the Go runtime that did, for the monotonic clock. What the Go runtime asks for
// when it starts is known and made good in Restore: see golang.go. What a package of a Go program draws from
// math/rand in its initialisation goes unseen, and is the same in all runs.
//
// Arguments and environment that the guest was given are part of the image.
func Take(ctx context.Context, base *Image, w *Witness) (*Image, error) {
	in, err := base.Restore(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer in.Close(ctx)
	if err := in.Initialize(ctx); err != nil {
		return nil, err
	}
	generators, err := w.verdict(ctx, in.bytes())
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

// verdict says whether the memory would be the same for every run, but for the generators that it returns.
func (w *Witness) verdict(ctx context.Context, memory []byte) (generators []int, err error) {
	if w.wall {
		return nil, fmt.Errorf("%w: it asks for the time while it is initialised", ErrVaries)
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
		return nil, fmt.Errorf("%w: it asks for random numbers while it is initialised", ErrVaries)
	case w.mono:
		return nil, fmt.Errorf("%w: it asks for the monotonic clock while it is initialised", ErrVaries)
	}
	return nil, nil
}
