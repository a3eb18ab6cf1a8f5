package cli

import (
	"errors"
	"testing"
	"time"
)

// TestReloadGauges checks the metrics after failed and successful reloads.
func TestReloadGauges(t *testing.T) {
	var r reloaded
	want := func(when string, success, at float64) {
		t.Helper()
		g := r.gauges()
		if g[0].read() != success || g[1].read() != at {
			t.Errorf("%s the gauges are %v and %v; want %v and %v", when, g[0].read(), g[1].read(), success, at)
		}
	}
	want("before the first reload", 1, 0)
	r.note(time.Unix(100, 0), errors.New("a mistake"))
	want("after a failed reload", 0, 100)
	r.note(time.Unix(200, 0), nil)
	want("after a reload", 1, 200)
}
