package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

const (
	// clockEvery is the interval between two measurements of the difference to the server's clock.
	clockEvery = time.Minute
	// clockTimeout is the time limit of a measurement.
	clockTimeout = 5 * time.Second
)

var _ storage.Clock = (*Backend)(nil)

// serverClock is a clock that approximates the server's clock. serverClock adds the measured
// difference to the time of the local clock.
type serverClock struct {
	local      func() time.Time
	difference atomic.Int64 // in nanoseconds
}

// Now implements storage.Clock. The difference between the local clock and the server's clock is
// measured every minute. If the server cannot be reached, the last difference remains in use.
func (b *Backend) Now() time.Time { return b.clock.now() }

func (c *serverClock) now() time.Time {
	return c.local().Add(time.Duration(c.difference.Load()))
}

// measure measures the difference to the server's clock. The function "server" returns the server's
// time.
func (c *serverClock) measure(ctx context.Context, server func(context.Context) (time.Time, error)) error {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	before := c.local()
	at, err := server(ctx)
	if err != nil {
		return err
	}
	took := c.local().Sub(before)
	c.difference.Store(int64(at.Sub(before.Add(took / 2))))
	return nil
}

// serverTime returns the time of the server.
func (b *Backend) serverTime(ctx context.Context) (at time.Time, err error) {
	err = b.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&at)
	return at, err
}

// keepTime periodically measures the difference to the server's clock until ctx ends.
func (b *Backend) keepTime(ctx context.Context) {
	ticker := time.NewTicker(clockEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = b.clock.measure(ctx, b.serverTime) // if this fails, the last difference stays
		case <-ctx.Done():
			return
		}
	}
}
