// Package yield lets long work give way to requests that wait.
package yield

import (
	"io"
	"runtime"
	"time"
)

// Bytes is how many bytes are read or hashed before others may have the processor: that takes a fraction of a millisecond.
const Bytes = 256 << 10

// pause is the least for which a goroutine is parked.
const pause = 10 * time.Microsecond

// Now lets others have the processor: goroutines that can run, and then those whose connections have become readable. The
// scheduler looks for the latter when it finds none of the former, so the goroutine is parked; otherwise a monitor looks,
// every 10 ms.
func Now() {
	runtime.Gosched()
	time.Sleep(pause)
}

// Reader returns a reader of r that yields whenever it has read Bytes. Data that is always there would never make it wait.
func Reader(r io.Reader) io.Reader { return &reader{r: r} }

type reader struct {
	r    io.Reader
	read int // since the last time
}

func (r *reader) Read(p []byte) (int, error) {
	if r.read >= Bytes {
		r.read = 0
		Now()
	}
	n, err := r.r.Read(p)
	r.read += n
	return n, err
}
