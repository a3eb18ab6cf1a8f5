package httpapi

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/access"
)

const (
	// fileRoom is how many bytes of files that are uploaded, and of those that are downloaded, are in memory at a time.
	fileRoom = 256 << 20
	// roomWait is how long a request waits for room.
	roomWait = 10 * time.Second
)

// room bounds the bytes that requests hold at a time. Requests wait in the order in which they came, but none waits for
// one whose sender has as much as it may have.
type room struct {
	size int64
	wait time.Duration

	mu      sync.Mutex
	used    int64
	by      map[identity]int64
	waiting []*holding
}

func newRoom(size int64) *room { return &room{size: size, wait: roomWait, by: map[identity]int64{}} }

// holding is what one request has of a room, or waits for.
type holding struct {
	room *room
	// who is the principal, of whom only the tenant may be known.
	who   identity
	bytes int64
	ready chan struct{} // closed when it has them
}

// take waits until there is room for a request. A tenant has half of it at most, a principal a quarter: who takes all
// that they may must leave some to others. The holding is given back with free.
func (r *room) take(ctx context.Context, who identity, bytes int64) (*holding, error) {
	h := &holding{room: r, who: who, bytes: bytes, ready: make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, h)
	r.next()
	r.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, r.wait, errNoRoom)
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
	full := !r.mayHave(h)
	r.next() // those behind it may be smaller
	if full && context.Cause(ctx) == errNoRoom {
		return nil, errFullShare
	}
	return nil, context.Cause(ctx)
}

var (
	errNoRoom = abi.Faultf(abi.Unavailable, "the service has no room for more files at the moment").WithHint("try again in some seconds")
	// errFullShare is another status than errNoRoom: it is the sender who has to slow down.
	errFullShare = func() *problem {
		f := abi.Faultf(abi.Unavailable, "too many files are sent or read at a time").WithHint("send, or read, a few at a time")
		return problemOfFault(f, http.StatusTooManyRequests)
	}()
)

// next gives room to those who wait.
func (r *room) next() {
	for i := 0; i < len(r.waiting); {
		h := r.waiting[i]
		if !r.mayHave(h) {
			i++
			continue
		}
		if r.used > 0 && r.used+h.bytes > r.size {
			return // else large ones would wait for ever
		}
		r.waiting = slices.Delete(r.waiting, i, i+1)
		r.count(h, h.bytes)
		close(h.ready)
	}
}

// mayHave reports whether a request and the others of its sender stay within their shares. One alone always does.
func (r *room) mayHave(h *holding) bool {
	for _, who := range h.counted() {
		share := r.size / 4
		if who == (identity{tenant: who.tenant}) {
			share = r.size / 2
		}
		if r.by[who] > 0 && r.by[who]+h.bytes > share {
			return false
		}
	}
	return true
}

func (r *room) count(h *holding, bytes int64) {
	r.used += bytes
	for _, who := range h.counted() {
		if r.by[who] += bytes; r.by[who] == 0 {
			delete(r.by, who)
		}
	}
}

// counted are those whose share a holding is part of.
func (h *holding) counted() []identity {
	tenant := identity{tenant: h.who.tenant}
	if h.who == tenant {
		return []identity{tenant}
	}
	return []identity{tenant, h.who}
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
}

// free gives back all. It may be called twice.
func (h *holding) free() { h.shrink(0) }

// identityOf says what a principal is counted by.
func identityOf(p access.Principal) identity {
	return identity{p.Tenant, string(p.Role), p.Name, p.User}
}

// holdUpload makes room for a body before any of it is read.
func (s *Server) holdUpload(ctx huma.Context, next func(huma.Context)) {
	r, _ := humago.Unwrap(ctx)
	p, _ := ctx.Context().Value(principalKey{}).(access.Principal)
	bytes := r.ContentLength
	if bytes < 0 {
		bytes = ctx.Operation().MaxBodyBytes
	}
	held, err := s.uploads.take(r.Context(), identityOf(p), bytes)
	if err != nil {
		if r.Header.Get("Expect") == "" { // who sends without waiting reads no answer before all is sent
			_, _ = io.Copy(io.Discard, r.Body)
		}
		s.refuse(ctx, err)
		return
	}
	defer held.free()
	next(ctx)
}
