package httpapi

import (
	"cmp"
	"slices"
)

// maxWaiting is the maximum number of requests that wait for one semaphore. A tenant may have at
// most 1/tenantPart of these requests. Each caller of a tenant, and each link of a tenant, may have
// at most 1/callerPart of the tenant's part. Therefore, one caller cannot fill the queue and keep
// other callers out.
const maxWaiting, tenantPart, callerPart = 4096, 4, 8

// waitQueue is a queue of reservations, grouped by tenant and then by caller. Tenants and callers
// are identified by their shares.
type waitQueue struct {
	size    int // capacity
	count   int
	arrived int64 // number of reservations added so far
	tenants map[*share]*tenantQueue
}

// tenantQueue contains the waiting reservations of one tenant.
type tenantQueue struct {
	count   int
	callers map[*share]*callerQueue
}

// callerQueue contains the waiting reservations of one caller in the order of arrival.
type callerQueue struct {
	waiting []*reservation
	minimum *reservation // the first reservation of the smallest size
}

func newWaitQueue(size int) waitQueue {
	return waitQueue{size: size, tenants: map[*share]*tenantQueue{}}
}

func (h *reservation) tenant() *share { return h.shares[0] }
func (h *reservation) caller() *share { return h.shares[len(h.shares)-1] }

// add adds a reservation. The result "ok" reports whether the queue had space for the reservation.
// If the tenant's queue or the whole queue is full, the new reservation can evict the last
// reservation of the longest queue. This requires that the owner of the new reservation has fewer
// waiting reservations than the owner of the evicted reservation. The result "out" is the evicted
// reservation or nil.
func (l *waitQueue) add(h *reservation) (out *reservation, ok bool) {
	tenants := max(l.size/tenantPart, 1)
	callers := max(tenants/callerPart, 1)
	tenant := l.tenants[h.tenant()]
	own, ofTenant := tenant.waitingOf(h.caller()), tenant.waiting()
	if own >= callers {
		return nil, false
	}
	switch longest := l.longest(); {
	case ofTenant < tenants && l.count < l.size:
	case ofTenant < tenants && longest != tenant && longest.count > ofTenant+1:
		out = longest.longest().last()
	default:
		caller := tenant.longest()
		if caller == nil || len(caller.waiting) <= own+1 {
			return nil, false
		}
		out = caller.last()
	}
	if out != nil {
		l.remove(out)
	}
	l.push(h)
	return out, true
}

// push appends a reservation to the queue of its caller.
func (l *waitQueue) push(h *reservation) {
	tenant := l.tenants[h.tenant()]
	if tenant == nil {
		tenant = &tenantQueue{callers: map[*share]*callerQueue{}}
		l.tenants[h.tenant()] = tenant
	}
	caller := tenant.callers[h.caller()]
	if caller == nil {
		caller = &callerQueue{minimum: h}
		tenant.callers[h.caller()] = caller
	}
	l.arrived++
	h.arrived = l.arrived
	caller.waiting = append(caller.waiting, h)
	if h.bytes < caller.minimum.bytes {
		caller.minimum = h
	}
	tenant.count++
	l.count++
}

// remove removes a reservation, and returns true if the reservation was waiting.
func (l *waitQueue) remove(h *reservation) bool {
	if h.arrived == 0 {
		return false
	}
	h.arrived = 0
	tenant := l.tenants[h.tenant()]
	caller := tenant.callers[h.caller()]
	caller.drop(h)
	l.count--
	if len(caller.waiting) == 0 {
		delete(tenant.callers, h.caller())
	}
	if tenant.count--; tenant.count == 0 {
		delete(l.tenants, h.tenant())
	}
	return true
}

func (c *callerQueue) drop(h *reservation) {
	i := slices.Index(c.waiting, h)
	c.waiting = slices.Delete(c.waiting, i, i+1)
	if h == c.minimum && len(c.waiting) > 0 {
		c.minimum = slices.MinFunc(c.waiting, func(a, b *reservation) int { return cmp.Compare(a.bytes, b.bytes) })
	}
}

func (c *callerQueue) last() *reservation { return c.waiting[len(c.waiting)-1] }

// The method longest returns the queue of the tenant with the most waiting reservations, or nil if
// the queue is empty.
func (l *waitQueue) longest() (longest *tenantQueue) {
	for _, t := range l.tenants {
		if longest == nil || t.count > longest.count {
			longest = t
		}
	}
	return longest
}

// The method longest returns the queue of the caller with the most waiting reservations. If the
// tenantQueue is nil, the method longest returns nil.
func (t *tenantQueue) longest() (longest *callerQueue) {
	if t == nil {
		return nil
	}
	for _, c := range t.callers {
		if longest == nil || len(c.waiting) > len(longest.waiting) {
			longest = c
		}
	}
	return longest
}

func (t *tenantQueue) waiting() int {
	if t == nil {
		return 0
	}
	return t.count
}

func (t *tenantQueue) waitingOf(caller *share) int {
	if t == nil || t.callers[caller] == nil {
		return 0
	}
	return len(t.callers[caller].waiting)
}

// best returns the next reservation that fits, or nil. best prefers the tenant with the fewest
// reserved bytes, then the caller with the fewest reserved bytes, then the earliest reservation. If
// a reservation of a caller fits, every smaller reservation of the same caller also fits.
func (l *waitQueue) best(fits func(*reservation) bool) (best *reservation) {
	for tenant, t := range l.tenants {
		if best != nil && tenant.bytes > best.tenant().bytes {
			continue
		}
		for _, c := range t.callers {
			if h := c.first(fits); h != nil && (best == nil || h.before(best)) {
				best = h
			}
		}
	}
	return best
}

// The method "first" returns the first reservation of a caller that fits. The method "first"
// returns nil if even the smallest reservation does not fit.
func (c *callerQueue) first(fits func(*reservation) bool) *reservation {
	if !fits(c.minimum) {
		return nil
	}
	for _, h := range c.waiting {
		if h.bytes <= c.minimum.bytes || fits(h) {
			return h
		}
	}
	return nil
}

// The method "before" reports whether a reservation is granted before another reservation.
func (h *reservation) before(other *reservation) bool {
	for i := range min(len(h.shares), len(other.shares)) {
		if a, b := h.shares[i], other.shares[i]; a != b {
			return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(h.arrived, other.arrived)) < 0
		}
	}
	return h.arrived < other.arrived
}
