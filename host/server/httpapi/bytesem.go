package httpapi

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
)

// roomWait is how long a request waits for room.
const acquireTimeout = 10 * time.Second

// room bounds the bytes that requests hold at a time. Whose they are is a path, such as a tenant and one of its users: at
// each level nobody holds more than it leaves free, of what the level above may hold. So the only tenant has half of the
// room at most, and its only user a quarter; two tenants have a third each, and however many hold all they may, some is
// left for the next one. Who waits is let in where it may hold as much: first who holds least, by tenant and then by user.
type byteSemaphore struct {
	size int64
	wait time.Duration
	// what is held, for messages, such as files.
	what string

	mu     sync.Mutex
	used   int64
	shares map[string]*share
	queue  waitQueue // of holdings for none of which there is room
}

// share is what somebody at one level holds.
type share struct {
	name  string
	bytes int64
	uses  int // holdings, waiting ones included
}

func newByteSemaphore(size int64, what string) *byteSemaphore {
	return &byteSemaphore{size: size, wait: acquireTimeout, what: what, shares: map[string]*share{}, queue: newWaitQueue(maxWaiting)}
}

// holding is what one request has of a room, or waits for.
type reservation struct {
	sem    *byteSemaphore
	shares []*share // the tenant's first
	bytes  int64
	ready  chan struct{} // closed when it has them, or is refused

	// Under the lock of room:
	arrived int64 // its place in the line, 0 while it does not wait
	refused error // why it waits no longer
}

// take waits until there is room for a request. The holding is given back with free. The error is a problem: 429 where
// it is the sender who has to slow down, 503 where others leave no room.
func (r *byteSemaphore) acquire(ctx context.Context, bytes int64, path ...string) (*reservation, error) {
	h, err := r.begin(bytes, path)
	if err != nil {
		return nil, err
	}
	select {
	case <-h.ready:
		if h.refused == nil {
			return h, nil
		}
	default:
	}
	errFull := r.errFull()
	ctx, cancel := context.WithTimeoutCause(ctx, r.wait, errFull)
	defer cancel()
	select {
	case <-h.ready:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.refused != nil {
		return nil, h.refused
	}
	if !r.queue.remove(h) { // it has them, perhaps since this moment
		return h, nil
	}
	at := r.full(h)
	own := at >= 0 && h.shares[at].bytes > 0
	h.leave()
	if own && context.Cause(ctx) == error(errFull) {
		return nil, r.errOverShare()
	}
	return nil, context.Cause(ctx)
}

// begin gives room to a request, or has it wait in the line. There is no room for those that wait, so that none is passed
// by one for which there is.
func (r *byteSemaphore) begin(bytes int64, path []string) (*reservation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.newReservation(bytes, path)
	if r.full(h) < 0 {
		r.count(h, h.bytes)
		close(h.ready)
		return h, nil
	}
	out, ok := r.queue.add(h)
	if out != nil {
		out.refused = r.errOverShare()
		out.leave()
		close(out.ready)
	}
	if ok {
		return h, nil
	}
	ofTenant := r.queue.tenants[h.tenant()].waiting()
	h.leave()
	if ofTenant > 0 {
		return nil, r.errOverShare()
	}
	return nil, r.errFull()
}

// newHolding makes one that has nothing yet. The caller holds mu.
func (r *byteSemaphore) newReservation(bytes int64, path []string) *reservation {
	h := &reservation{sem: r, bytes: bytes, ready: make(chan struct{})}
	for i := range path {
		h.shares = append(h.shares, r.share(strings.Join(path[:i+1], "\x00")))
	}
	return h
}

// share returns that of a name. The caller holds mu.
func (r *byteSemaphore) share(name string) *share {
	s := r.shares[name]
	if s == nil {
		s = &share{name: name}
		r.shares[name] = s
	}
	s.uses++
	return s
}

// leave lets go of the shares. The caller holds mu.
func (h *reservation) leave() {
	for _, s := range h.shares {
		if s.uses--; s.uses == 0 {
			delete(h.sem.shares, s.name)
		}
	}
	h.shares = nil
}

func (r *byteSemaphore) errFull() *problem {
	f := abi.Faultf(abi.Unavailable, "the service has no room for more %s at the moment", r.what).WithHint("try again in some seconds")
	return problemOfFault(f, 0)
}

func (r *byteSemaphore) errOverShare() *problem {
	f := abi.Faultf(abi.Unavailable, "too many %s are sent or read at a time", r.what).WithHint("send, or read, a few at a time")
	return problemOfFault(f, http.StatusTooManyRequests)
}

// next gives room to those that wait.
func (r *byteSemaphore) next() {
	for {
		h := r.queue.best(func(h *reservation) bool { return r.full(h) < 0 })
		if h == nil {
			return
		}
		r.queue.remove(h)
		r.count(h, h.bytes)
		close(h.ready)
	}
}

// full returns the level at which a holding would be too much, -1 for none. One alone in the room never is.
func (r *byteSemaphore) full(h *reservation) int {
	if r.used == 0 {
		return -1
	}
	last := len(h.shares) - 1
	small := h.shares[last].bytes == 0 && h.bytes <= r.size/smallPart
	may, used := r.size, r.used
	for i, s := range h.shares {
		may = (may - (used - s.bytes)) / 2
		limit := may
		if small {
			limit = may + r.size/sparePart
		}
		if s.bytes+h.bytes > limit && (i < last || !small) {
			return i
		}
		used = s.bytes
	}
	if r.used+h.bytes > r.size {
		return 0
	}
	return -1
}

// Others that come make shares smaller than what they hold already. For a user who holds nothing, and wants no more than a
// smallPart of the room, its tenant may exceed its share by a sparePart.
const smallPart, sparePart = 1024, 16

func (r *byteSemaphore) count(h *reservation, bytes int64) {
	r.used += bytes
	for _, s := range h.shares {
		s.bytes += bytes
	}
}

// grow waits for more room for a request.
func (h *reservation) grow(ctx context.Context, bytes int64) error {
	path := strings.Split(h.shares[len(h.shares)-1].name, "\x00")
	more, err := h.sem.acquire(ctx, bytes, path...)
	if err != nil {
		return err
	}
	h.sem.mu.Lock()
	defer h.sem.mu.Unlock()
	h.bytes += more.bytes
	more.leave()
	return nil
}

// shrink gives back all but some bytes.
func (h *reservation) shrink(bytes int64) {
	h.sem.mu.Lock()
	defer h.sem.mu.Unlock()
	if bytes < h.bytes {
		h.sem.count(h, bytes-h.bytes)
		h.bytes = bytes
		h.sem.next()
	}
	if bytes == 0 {
		h.leave()
	}
}

// free gives back all. It may be called twice.
func (h *reservation) free() { h.shrink(0) }

// pathOf is whose what a principal holds is: its tenant's, and there its own.
func pathOf(p auth.Principal) []string {
	return []string{p.Tenant, strings.Join([]string{string(p.Role), p.Name, p.User}, "\x01")}
}
