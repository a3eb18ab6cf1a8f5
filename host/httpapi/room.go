package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/access"
)

// roomWait is how long a request waits for room, maxRoomWaiting how many wait at a time.
const (
	roomWait       = 10 * time.Second
	maxRoomWaiting = 4096
)

// room bounds the bytes that requests hold at a time. Whose they are is a path, such as a tenant and one of its users: at
// each level nobody holds more than it leaves free, of what the level above may hold. So the only tenant has half of the
// room at most, and its only user a quarter; two tenants have a third each, and however many hold all they may, some is
// left for the next one. Who waits is let in where it may hold as much: first who holds least, by tenant and then by user.
type room struct {
	size int64
	wait time.Duration
	// what is held, for messages, such as files.
	what string

	mu      sync.Mutex
	used    int64
	shares  map[string]*share
	waiting []*holding // in the order in which they came
}

// share is what somebody at one level holds.
type share struct {
	name  string
	bytes int64
	uses  int // holdings, waiting ones included
}

func newRoom(size int64, what string) *room {
	return &room{size: size, wait: roomWait, what: what, shares: map[string]*share{}}
}

// holding is what one request has of a room, or waits for.
type holding struct {
	room   *room
	shares []*share // the tenant's first
	bytes  int64
	ready  chan struct{} // closed when it has them
}

// take waits until there is room for a request. The holding is given back with free. The error is a problem: 429 where
// it is the sender who has to slow down, 503 where others leave no room.
func (r *room) take(ctx context.Context, bytes int64, path ...string) (*holding, error) {
	r.mu.Lock()
	h := r.newHolding(bytes, path)
	if len(r.waiting) >= maxRoomWaiting {
		h.leave()
		r.mu.Unlock()
		return nil, r.noRoom()
	}
	r.waiting = append(r.waiting, h)
	r.next()
	r.mu.Unlock()
	noRoom := r.noRoom()
	ctx, cancel := context.WithTimeoutCause(ctx, r.wait, noRoom)
	defer cancel()
	select {
	case <-h.ready:
		return h, nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting, h)
	if i < 0 { // it got them in the same moment
		return h, nil
	}
	r.waiting = slices.Delete(r.waiting, i, i+1)
	at := r.full(h)
	own := at >= 0 && h.shares[at].bytes > 0
	h.leave()
	if own && context.Cause(ctx) == error(noRoom) {
		return nil, r.fullShare()
	}
	return nil, context.Cause(ctx)
}

// newHolding makes one that has nothing yet. The caller holds mu.
func (r *room) newHolding(bytes int64, path []string) *holding {
	h := &holding{room: r, bytes: bytes, ready: make(chan struct{})}
	for i := range path {
		h.shares = append(h.shares, r.share(strings.Join(path[:i+1], "\x00")))
	}
	return h
}

// share returns that of a name. The caller holds mu.
func (r *room) share(name string) *share {
	s := r.shares[name]
	if s == nil {
		s = &share{name: name}
		r.shares[name] = s
	}
	s.uses++
	return s
}

// leave lets go of the shares. The caller holds mu.
func (h *holding) leave() {
	for _, s := range h.shares {
		if s.uses--; s.uses == 0 {
			delete(h.room.shares, s.name)
		}
	}
	h.shares = nil
}

func (r *room) noRoom() *problem {
	f := abi.Faultf(abi.Unavailable, "the service has no room for more %s at the moment", r.what).WithHint("try again in some seconds")
	return problemOfFault(f, 0)
}

func (r *room) fullShare() *problem {
	f := abi.Faultf(abi.Unavailable, "too many %s are sent or read at a time", r.what).WithHint("send, or read, a few at a time")
	return problemOfFault(f, http.StatusTooManyRequests)
}

// next gives room to those who wait.
func (r *room) next() {
	for {
		best := -1
		for i, h := range r.waiting {
			if r.full(h) < 0 && (best < 0 || h.holdsLess(r.waiting[best])) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		h := r.waiting[best]
		r.waiting = slices.Delete(r.waiting, best, best+1)
		r.count(h, h.bytes)
		close(h.ready)
	}
}

// holdsLess compares whose holdings they are, level by level.
func (h *holding) holdsLess(other *holding) bool {
	for i := range min(len(h.shares), len(other.shares)) {
		if a, b := h.shares[i], other.shares[i]; a != b {
			return a.bytes < b.bytes
		}
	}
	return false
}

// full returns the level at which a holding would be too much, -1 for none. One alone in the room never is.
func (r *room) full(h *holding) int {
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

func (r *room) count(h *holding, bytes int64) {
	r.used += bytes
	for _, s := range h.shares {
		s.bytes += bytes
	}
}

// grow waits for more room for a request.
func (h *holding) grow(ctx context.Context, bytes int64) error {
	path := strings.Split(h.shares[len(h.shares)-1].name, "\x00")
	more, err := h.room.take(ctx, bytes, path...)
	if err != nil {
		return err
	}
	h.room.mu.Lock()
	defer h.room.mu.Unlock()
	h.bytes += more.bytes
	more.leave()
	return nil
}

// shrink gives back all but some bytes.
func (h *holding) shrink(bytes int64) {
	h.room.mu.Lock()
	defer h.room.mu.Unlock()
	if bytes < h.bytes {
		h.room.count(h, bytes-h.bytes)
		h.bytes = bytes
		h.room.next()
	}
	if bytes == 0 {
		h.leave()
	}
}

// free gives back all. It may be called twice.
func (h *holding) free() { h.shrink(0) }

// pathOf is whose what a principal holds is: its tenant's, and there its own.
func pathOf(p access.Principal) []string {
	return []string{p.Tenant, strings.Join([]string{string(p.Role), p.Name, p.User}, "\x01")}
}

// identityOf is what a principal is counted by.
func identityOf(p access.Principal) identity {
	return identity{p.Tenant, string(p.Role), p.Name, p.User}
}
