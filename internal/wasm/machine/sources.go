package machine

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"time"
)

// processStart is the zero time of the monotonic clock that all guests use. An execution that
// starts from an image must not see an earlier time than the execution in which the image was
// captured.
var processStart = time.Now()

// Nanotime returns the monotonic time for all guests of this process, in nanoseconds. Nanotime is
// positive.
func Nanotime() int64 { return int64(time.Since(processStart)) + 1 }

// Sources are the clocks and the random source of a guest. The zero value of Sources selects the
// real clocks and the system's random source.
type Sources struct {
	Walltime func() time.Time // default time.Now
	Nanotime func() int64     // default Nanotime
	Random   io.Reader        // default the system's
}

// WithDefaults returns s with the real clocks in place of nil clocks. Random may stay nil, which
// selects the system's random source.
func (s Sources) WithDefaults() Sources {
	if s.Walltime == nil {
		s.Walltime = time.Now
	}
	if s.Nanotime == nil {
		s.Nanotime = Nanotime
	}
	return s
}

// SourcesOf returns the sources of a run. The clock shows the time now at the start of the run, and
// the random bytes derive from seed. If now or seed is zero, the real clock or the system's random
// source is used. If frozen is true, the clock always shows now.
func SourcesOf(now time.Time, seed int64, frozen bool) Sources {
	s := Sources{Random: Random(seed)}
	switch start := time.Now(); {
	case now.IsZero():
	case frozen:
		s.Walltime = func() time.Time { return now }
	default:
		s.Walltime = func() time.Time { return now.Add(time.Since(start)) }
	}
	return s.WithDefaults()
}

// Random returns a source of random bytes. Equal seeds give equal bytes. If the seed is zero,
// Random returns nil, which selects the system's random source.
func Random(seed int64) io.Reader {
	if seed == 0 {
		return nil
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], uint64(seed))
	return rand.NewChaCha8(key)
}
