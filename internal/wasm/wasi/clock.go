package wasi

import (
	"context"
	"math"
	"time"
)

// The supported clocks. CPU time clocks are not supported, because they would reveal the load of
// other guests. wasi-libc has also removed them
// (https://github.com/WebAssembly/wasi-libc/pull/294).
const (
	clockRealtime  = 0
	clockMonotonic = 1
)

// clockResolution is the resolution of the clocks in nanoseconds, as on Linux.
const clockResolution = 1

// clockResGet implements clock_res_get(id, resolution*). clockResGet returns EINVAL for an unknown
// clock, as the specification requires.
func clockResGet(_ context.Context, _ *System, mem memory, p []uint64) errno {
	if id := uint32(p[0]); id != clockRealtime && id != clockMonotonic {
		return errInval
	}
	return mem.put64(uint32(p[1]), clockResolution)
}

// clockTimeGet implements clock_time_get(id, precision, time*). clockTimeGet reads the clock before
// it writes to memory, because the clock function may inspect the memory.
func clockTimeGet(_ context.Context, s *System, mem memory, p []uint64) errno {
	now, e := s.clock(uint32(p[0]))
	if e != success {
		return e
	}
	return mem.put64(uint32(p[2]), now)
}

// clock returns the time of a clock in nanoseconds. The realtime clock starts in 1970, and earlier
// times are reported as 1970.
func (s *System) clock(id uint32) (uint64, errno) {
	switch id {
	case clockRealtime:
		return uint64(max(s.walltime().UnixNano(), 0)), success
	case clockMonotonic:
		return uint64(max(s.nanotime(), 0)), success
	}
	return 0, errInval
}

// until returns the time until a timeout expires. The timeout is a duration, or an absolute time of
// a clock. The largest result is the largest time.Duration, 292 years.
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

// sleep waits for the duration d. If ctx ends before the duration has passed, sleep returns the
// cause of the end.
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
