package wasi

import (
	"context"
	"math"
	"time"
)

// The following constants describe the memory layouts of poll_oneoff. A number after "at" is an
// offset. A subscription has userdata u64 and kind u8 (at 8). A clock subscription also has id u32
// (at 16), timeout u64 (at 24), precision u64 (at 32) and flags u16 (at 40). A descriptor
// subscription also has the descriptor u32 (at 16). An event has userdata u64, error u16 (at 8) and
// kind u8 (at 10). An event for a descriptor also has the fields bytes u64 (at 16) and flags u16
// (at 24).
const (
	subscriptionSize = 48
	eventSize        = 32

	kindClock   = 0
	kindFdRead  = 1
	kindFdWrite = 2

	flagAbsolute = 1 << 0 // a flag of a clock subscription that marks the timeout as an absolute time
	flagHangup   = 1 << 0 // a flag of an event that means that no data follows the available bytes
)

// never is the duration of an endless wait.
const never = time.Duration(math.MaxInt64)

// subscription is a condition that a guest waits for. The field "wait" is the time until the
// condition is met, or zero if it is already met.
type subscription struct {
	userdata uint64
	kind     byte
	wait     time.Duration
	errno    errno
	bytes    uint64
	flags    uint16
}

// pollOneoff implements poll_oneoff(in*, out*, nsubscriptions, nevents*). pollOneoff waits until
// the first condition is met. A descriptor is always ready or invalid, so only clocks cause a wait.
// The wait also ends when the context ends.
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
	// All subscriptions are read before an event is written, because the two lists may overlap in
	// memory.
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

// subscribe reads a subscription. If the kind of the subscription is unknown, subscribe returns
// false.
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

// wait sleeps. If the context ends, wait stops the guest.
func (s *System) wait(ctx context.Context, d time.Duration) {
	s.checkEnd(ctx)
	if d == 0 {
		return
	}
	if err := s.sleep(ctx, d); err != nil {
		s.stop(err)
	}
}

// putEvents writes the events of all subscriptions whose wait does not exceed the shortest wait.
// putEvents returns the number of written events. putEvents does not read the clocks again, because
// a simulated clock may stand still.
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
