package machine

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"time"
)

// processStart is the zero of the monotonic clock of all guests: the clock must not run backwards
// from the execution that an image was captured in to those that start from the image.
var processStart = time.Now()

// Nanotime is the monotonic clock of all guests of this process, in nanoseconds. It is positive.
func Nanotime() int64 { return int64(time.Since(processStart)) + 1 }

// Sources are the clocks and the random source of a guest. The zero value stands for the real ones.
type Sources struct {
	Walltime func() time.Time // default time.Now
	Nanotime func() int64     // default Nanotime
	Random   io.Reader        // default the system's
}

// WithDefaults returns s with the real clocks where it has none. Random stays nil for the system's
// source.
func (s Sources) WithDefaults() Sources {
	if s.Walltime == nil {
		s.Walltime = time.Now
	}
	if s.Nanotime == nil {
		s.Nanotime = Nanotime
	}
	return s
}

// SourcesOf returns the sources of a run: a clock that shows now at the start, and random bytes
// made from seed. A zero now and a zero seed stand for the real ones.
func SourcesOf(now time.Time, seed int64) Sources {
	s := Sources{Random: Random(seed)}
	if !now.IsZero() {
		start := time.Now()
		s.Walltime = func() time.Time { return now.Add(time.Since(start)) }
	}
	return s.WithDefaults()
}

// Random returns a source of random bytes that are the same for the same seed; nil, for the
// system's source, if the seed is zero.
func Random(seed int64) io.Reader {
	if seed == 0 {
		return nil
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], uint64(seed))
	return rand.NewChaCha8(key)
}
