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

// acquireTimeout is the maximum time that a request waits for memory.
const acquireTimeout = 10 * time.Second

// byteSemaphore is a fair semaphore that limits how many bytes concurrent requests reserve. An
// owner is identified by a path, such as a tenant and a user of that tenant. On each level of the
// path, an owner can reserve at most half of the bytes that the other owners leave free. Therefore,
// if only one tenant has reservations, the tenant can reserve half of the bytes, and a single user
// of the tenant can reserve a quarter. If two tenants have reservations, each tenant can reserve a
// third of the bytes. Even if many tenants have reservations, some bytes remain free for another
// tenant. When bytes become free, the semaphore selects the tenant that has reserved the fewest
// bytes. The semaphore then grants a request of the user that, among the users of this tenant, has
// reserved the fewest bytes.
type byteSemaphore struct {
	size int64
	wait time.Duration
	// what names the kind of data in error messages, such as "files".
	what string

	mu     sync.Mutex
	used   int64
	shares map[string]*share
	queue  waitQueue // reservations that do not fit yet
}

// share counts the bytes that an owner has reserved at one level of the path.
type share struct {
	name  string
	bytes int64
	uses  int // number of reservations, including waiting reservations
}

func newByteSemaphore(size int64, what string) *byteSemaphore {
	return &byteSemaphore{size: size, wait: acquireTimeout, what: what, shares: map[string]*share{}, queue: newWaitQueue(maxWaiting)}
}

// reservation is the memory that a request has reserved or is waiting for.
type reservation struct {
	sem    *byteSemaphore
	shares []*share // the tenant's first
	bytes  int64
	ready  chan struct{} // closed when the bytes are granted or refused

	// sem.mu guards the following fields.
	arrived int64 // position in the queue, or 0 if the reservation is not waiting
	refused error // why the reservation was refused
}

// acquire waits until the requested bytes are available. The caller must call free to release the
// bytes. If the requester has reserved too many bytes, the error is a problem with status 429. If
// other owners have reserved too many bytes, the error is a problem with status 503.
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
	if !r.queue.remove(h) { // granted in the meantime
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

// begin grants bytes to a request or adds the request to the queue. If older requests wait because
// they need more bytes than are free, the semaphore can grant a new request before the older
// requests.
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

// newReservation returns a reservation without granted bytes. The caller holds mu.
func (r *byteSemaphore) newReservation(bytes int64, path []string) *reservation {
	h := &reservation{sem: r, bytes: bytes, ready: make(chan struct{}), shares: make([]*share, 0, len(path))}
	for i := range path {
		h.shares = append(h.shares, r.share(strings.Join(path[:i+1], "\x00")))
	}
	return h
}

// share returns the share with the given name. The caller holds mu.
func (r *byteSemaphore) share(name string) *share {
	s := r.shares[name]
	if s == nil {
		s = &share{name: name}
		r.shares[name] = s
	}
	s.uses++
	return s
}

// leave releases the shares of the reservation. The caller holds mu.
func (h *reservation) leave() {
	for _, s := range h.shares {
		if s.uses--; s.uses == 0 {
			delete(h.sem.shares, s.name)
		}
	}
	h.shares = nil
}

func (r *byteSemaphore) errFull() *problem {
	f := abi.Faultf(abi.Unavailable, "the service has no free memory for %s", r.what).WithHint("retry in a few seconds")
	return problemOfFault(f, 0)
}

func (r *byteSemaphore) errOverShare() *problem {
	f := abi.Faultf(abi.Unavailable, "too many concurrent transfers of %s", r.what).WithHint("retry with fewer transfers")
	return problemOfFault(f, http.StatusTooManyRequests)
}

// The method "next" grants bytes to waiting requests. The caller holds mu.
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

// The method full returns the level at which a reservation exceeds its limit, or -1 if the
// reservation does not exceed a limit. If no other reservation exists, any reservation fits.
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

// Each new owner reduces the share of the other owners. Therefore, a tenant can already have
// reserved more bytes than its current share. Nevertheless, a user of the tenant who has no
// reservations can reserve up to 1/smallPart of all bytes. These reservations can exceed the share
// of the tenant by up to 1/sparePart of all bytes.
const smallPart, sparePart = 1024, 16

func (r *byteSemaphore) count(h *reservation, bytes int64) {
	r.used += bytes
	for _, s := range h.shares {
		s.bytes += bytes
	}
}

// grow waits until the reservation can be extended by the given number of bytes.
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

// shrink reduces the reservation to the given number of bytes.
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

// free releases all bytes. free can be called more than once.
func (h *reservation) free() { h.shrink(0) }

// pathOf returns the path that identifies a principal as an owner. The path consists of the tenant
// and the principal.
func pathOf(p auth.Principal) []string {
	return []string{p.Tenant, strings.Join([]string{string(p.Role), p.Name, p.User}, "\x01")}
}
