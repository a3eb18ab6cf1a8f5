package machine_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/internal/wasm/machine"
)

// TestSources sets a clock to a given time, from which the clock continues.
func TestSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		fixed, zero := machine.SourcesOf(now, 0, false), machine.SourcesOf(time.Time{}, 0, false)
		frozen := machine.SourcesOf(now, 0, true)
		time.Sleep(time.Minute) // the time of the clock in the synctest bubble
		if got := fixed.Walltime(); !got.Equal(now.Add(time.Minute)) {
			t.Errorf("Walltime a minute after %v = %v; want one minute later", now, got)
		}
		if got := frozen.Walltime(); !got.Equal(now) {
			t.Errorf("the frozen Walltime = %v; want %v", got, now)
		}
		if got := zero.Walltime(); !got.Equal(time.Now()) || zero.Random != nil {
			t.Errorf("without a time, Walltime = %v and Random = %v; want the real clock and nil", got, zero.Random)
		}
	})
}

// TestNanotime reads the monotonic clock that all guests use.
func TestNanotime(t *testing.T) {
	last := int64(0)
	for range 1000 {
		if now := machine.Nanotime(); now < last || now <= 0 {
			t.Fatalf("Nanotime = %d after %d; want a positive time that does not decrease", now, last)
		} else {
			last = now
		}
	}
}

// TestRandom checks that only equal seeds give equal bytes.
func TestRandom(t *testing.T) {
	read := func(seed int64) string {
		t.Helper()
		bytes := make([]byte, 16)
		if _, err := io.ReadFull(machine.Random(seed), bytes); err != nil {
			t.Fatal(err)
		}
		return string(bytes)
	}
	one, again, other := read(1), read(1), read(2)
	if one != again || one == other {
		t.Errorf("Random with the seeds 1, 1 and 2 = %x, %x, %x; want two equal values and another one", one, again, other)
	}
	if machine.Random(0) != nil {
		t.Error("Random(0) is not nil; want nil, which selects the system's source")
	}
}
