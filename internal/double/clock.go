package double

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// clock is the clock of an instance. clock is safe for concurrent use.
type clock struct {
	mu    sync.Mutex
	base  func() time.Time
	fixed time.Time // the time at which the clock was stopped, if it was stopped
	shift time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fixed.IsZero() {
		return c.fixed
	}
	return c.base().Add(c.shift)
}

// The following constants are the range of times that a clock may show. Times outside the permitted
// range could lead to expiry times that RFC 3339 cannot express.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// set sets the clock to a time and stops it.
func (c *clock) set(at time.Time) error {
	if at.Before(earliest) || at.After(latest) {
		return abi.Faultf(abi.InvalidArgument, "cannot set the clock to %s", at.Format(time.RFC3339)).
			WithHint("use a time between the years 1970 and 8999")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fixed = at
	return nil
}

// advance moves the clock forward. If the clock was stopped, it stays stopped at the new time.
func (c *clock) advance(by time.Duration) error {
	if to := c.now().Add(by); to.Before(earliest) || to.After(latest) {
		return abi.Faultf(abi.InvalidArgument, "cannot advance the clock to %s", to.UTC().Format(time.RFC3339))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fixed.IsZero() {
		c.fixed = c.fixed.Add(by)
		return nil
	}
	c.shift += by
	return nil
}

type clockRequest struct {
	envelope
	// Now sets the clock to a time and stops the clock.
	Now string `json:"now"`
	// Advance is a duration by which to advance the clock, such as "90m".
	Advance string `json:"advance"`
}

func (i *instance) setClock(_ context.Context, r clockRequest) (any, error) {
	if r.Now != "" {
		now, err := time.Parse(time.RFC3339, r.Now)
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "the text %q is not a time", shortened(r.Now)).WithHint("use the RFC 3339 format: 2030-01-01T00:00:00Z")
		}
		if err := i.clock.set(now); err != nil {
			return nil, err
		}
	}
	if r.Advance != "" {
		by, err := time.ParseDuration(r.Advance)
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "the text %q is not a duration", shortened(r.Advance)).
				WithHint("use a number and a unit (h, m, s or ms), such as 24h")
		}
		if err := i.clock.advance(by); err != nil {
			return nil, err
		}
	}
	return struct {
		Now time.Time `json:"now"`
	}{i.clock.now().UTC()}, nil
}

// random is the random source of an instance. Until a seed is set, random reads from the random
// source of the system. random is safe for concurrent use.
type random struct {
	mu     sync.Mutex
	seeded io.Reader
}

// Read fills p with random bytes.
func (r *random) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seeded == nil {
		return cryptorand.Read(p)
	}
	return r.seeded.Read(p)
}

func (r *random) seed(n int64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], uint64(n))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seeded = rand.NewChaCha8(key)
}

type randomRequest struct {
	envelope
	Seed *int64 `json:"seed"`
}

func (i *instance) setRandom(_ context.Context, r randomRequest) (any, error) {
	if r.Seed == nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the request \"random\" has no seed").WithHint(`use a request such as {"do":"random","seed":1}`)
	}
	i.random.seed(*r.Seed)
	return nil, nil
}
