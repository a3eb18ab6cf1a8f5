package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// TestServerClock uses a local clock that is years ahead. The corrected time must be the server's
// time. After a failed measurement, the last difference remains in use.
func TestServerClock(t *testing.T) {
	local, server := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	c := serverClock{local: func() time.Time { return local }}
	if !c.now().Equal(local) {
		t.Errorf("before a measurement, the time is %s; want %s", c.now(), local)
	}
	err := c.measure(t.Context(), func(context.Context) (time.Time, error) {
		local = local.Add(2 * time.Second) // the round trip
		return server, nil
	})
	if want := server.Add(time.Second); err != nil || !c.now().Equal(want) {
		t.Errorf("the time is %s, %v; want %s", c.now(), err, want)
	}
	local = local.Add(time.Hour)
	lost := errors.New("lost")
	err = c.measure(t.Context(), func(context.Context) (time.Time, error) { return time.Time{}, lost })
	if want := server.Add(time.Second + time.Hour); !errors.Is(err, lost) || !c.now().Equal(want) {
		t.Errorf("after a failure, the time is %s, %v; want %s", c.now(), err, want)
	}
}

// TestClockOf uses the clock of a backend that implements storage.Clock.
func TestClockOf(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	b := &Backend{}
	b.clock.local = func() time.Time { return at }
	if got := storage.ClockOf(b)(); !got.Equal(at) {
		t.Errorf("the time is %s; want %s", got, at)
	}
}
