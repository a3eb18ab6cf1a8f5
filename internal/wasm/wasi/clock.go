package wasi

import (
	"context"
	"math"
	"time"
)

// The clocks. Those of processor time are none of ours: they would show a guest how busy its neighbours are,
// and wasi-libc did away with them (https://github.com/WebAssembly/wasi-libc/pull/294).
const (
	clockRealtime  = 0
	clockMonotonic = 1
)

// clockResolution is in nanoseconds, the unit of the clocks, as Linux has it.
const clockResolution = 1

// clockResGet(id, resolution*). A clock that is not there is EINVAL, as the specification says.
func clockResGet(_ context.Context, _ *System, mem memory, p []uint64) errno {
	if id := uint32(p[0]); id != clockRealtime && id != clockMonotonic {
		return errInval
	}
	return mem.put64(uint32(p[1]), clockResolution)
}

// clockTimeGet(id, precision, time*). The memory is looked at after the clock, which may have looked at it too.
func clockTimeGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	now, e := s.clock(uint32(p[0]))
	if e != success {
		return e
	}
	return mem.put64(uint32(p[2]), now)
}

// clock reads a clock, in nanoseconds; the realtime since 1970. A time before that reads as 1970.
func (s *System) clock(id uint32) (uint64, errno) {
	switch id {
	case clockRealtime:
		return uint64(max(s.walltime().UnixNano(), 0)), success
	case clockMonotonic:
		return uint64(max(s.nanotime(), 0)), success
	}
	return 0, errInval
}

// until returns how long it is from now to a clock's time, or for a span of it. Longer than Go can say is as
// long as Go can say: 292 years.
func (s *System) until(id uint32, timeout uint64, absolute bool) (time.Duration, errno) {
	now, e := s.clock(id)
	if e != success {
		return 0, e
	}
	if absolute {
		timeout -= min(now, timeout)
	}
	return time.Duration(min(timeout, math.MaxInt64)), success
}

// sleep waits for d by a timer, or until ctx ends, whose cause it returns.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
