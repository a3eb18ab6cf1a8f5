package wasi

import (
	"context"
	"math"
	"time"
)

// The layouts of poll_oneoff: a subscription is userdata u64, kind u8 at 8 and from 16 on, for a clock, id u32,
// timeout u64 at 24, precision u64 at 32, flags u16 at 40; for a descriptor its number u32. An event is userdata
// u64, error u16 at 8, kind u8 at 10, and of descriptors, bytes u64 at 16 and flags u16 at 24.
const (
	subscriptionSize = 48
	eventSize        = 32

	kindClock   = 0
	kindFdRead  = 1
	kindFdWrite = 2

	flagAbsolute = 1 << 0 // of a clock: the timeout is a time, not a span
	flagHangup   = 1 << 0 // of an event: nothing comes after what can be read
)

// never is the wait of what does not come by waiting.
const never = time.Duration(math.MaxInt64)

// A subscription is what a guest waits for: wait says how long it takes, zero for what is there.
type subscription struct {
	userdata uint64
	kind     byte
	wait     time.Duration
	errno    errno
	bytes    uint64
	flags    uint16
}

// pollOneoff(in*, out*, nsubscriptions, nevents*) waits for the first of the subscriptions. A descriptor is
// ready at once or in error; so only clocks are ever waited for, and that no longer than the context lasts.
func pollOneoff(ctx context.Context, s *System, mem memory, p []uint64) errno {
	n := uint32(p[2])
	if n == 0 || n > maxSubscriptions {
		return errInval
	}
	in, ok := mem.bytes(uint32(p[0]), n*subscriptionSize)
	if !ok {
		return errFault
	}
	out, ok := mem.bytes(uint32(p[1]), n*eventSize)
	if !ok {
		return errFault
	}
	count, ok := mem.bytes(uint32(p[3]), 4)
	if !ok {
		return errFault
	}
	// All are read before an event is written: a guest may have put the events where the subscriptions are.
	subs := make([]subscription, n)
	first := never
	for i := range subs {
		if !s.subscribe(&subs[i], in[i*subscriptionSize:]) {
			return errInval
		}
		first = min(first, subs[i].wait)
	}
	s.wait(ctx, first)
	le.PutUint32(count, putEvents(out, subs, first))
	return success
}

// subscribe reads a subscription; false for one of no known kind.
func (s *System) subscribe(sub *subscription, in []byte) bool {
	sub.userdata, sub.kind = le.Uint64(in), in[8]
	switch sub.kind {
	case kindClock:
		flags := le.Uint16(in[40:])
		if flags&^flagAbsolute != 0 {
			sub.errno = errInval
			return true
		}
		sub.wait, sub.errno = s.until(le.Uint32(in[16:]), le.Uint64(in[24:]), flags&flagAbsolute != 0)
	case kindFdRead:
		sub.flags = flagHangup
		if !s.may(le.Uint32(in[16:]), rightRead) {
			sub.flags, sub.errno = 0, errBadf
		}
	case kindFdWrite:
		sub.bytes = MaxLine
		if !s.may(le.Uint32(in[16:]), rightWrite) {
			sub.bytes, sub.errno = 0, errBadf
		}
	default:
		return false
	}
	return true
}

// wait sleeps, and ends a guest whose context ended.
func (s *System) wait(ctx context.Context, d time.Duration) {
	s.checkEnd(ctx)
	if d == 0 {
		return
	}
	if err := s.sleep(ctx, d); err != nil {
		s.stop(err)
	}
}

// putEvents writes the event of everything that waited no longer than the first of them, and returns their number.
// Which those are does not depend on a clock that is read again, which need not run.
func putEvents(out []byte, subs []subscription, first time.Duration) uint32 {
	n := uint32(0)
	for _, sub := range subs {
		if sub.wait > first {
			continue
		}
		event := out[n*eventSize:][:eventSize]
		clear(event)
		le.PutUint64(event, sub.userdata)
		le.PutUint16(event[8:], uint16(sub.errno))
		event[10] = sub.kind
		le.PutUint64(event[16:], sub.bytes)
		le.PutUint16(event[24:], sub.flags)
		n++
	}
	return n
}
