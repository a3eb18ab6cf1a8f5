// Package yield lets long computations yield the processor to waiting requests.
package yield

import (
	"io"
	"runtime"
	"time"
)

// Bytes is the number of bytes to read or hash between two yields. Processing this number of bytes
// takes a fraction of a millisecond.
const Bytes = 256 << 10

// pause is the minimum duration of a sleep that parks a goroutine.
const pause = 10 * time.Microsecond

// Now yields the processor to goroutines that are ready, and to goroutines whose connections have
// become readable. The scheduler polls the network only when no goroutine is ready. The function
// Now therefore sleeps briefly. Without this sleep, only the runtime's monitor would poll the
// network, every 10 ms.
func Now() {
	runtime.Gosched()
	time.Sleep(pause)
}

// Reader returns a reader of r that yields each time it has read Bytes bytes. Without such a
// Reader, reading data from memory would never yield.
func Reader(r io.Reader) io.Reader { return &reader{r: r} }

type reader struct {
	r    io.Reader
	read int // the number of bytes since the last yield
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
