package mcpapi

import (
	"container/list"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// Slots limits the total number of MCP sessions of all servers that use the same Slots. If all
// slots are in use, a new session evicts an old session. First, Slots selects the tenant with the
// most sessions. Then, Slots selects the principal of this tenant that has the most sessions, and
// evicts the least recently used session of this principal. Therefore, a tenant cannot lock out
// other tenants, and a principal cannot lock out other principals of its tenant. Slots is safe for
// concurrent use.
type Slots struct {
	size int

	mu      sync.Mutex
	clock   int64 // counts uses
	open    int
	closing int // evicted sessions that have not ended yet
	tenants map[string]*tenantSlots
}

// tenantSlots contains the slots of a tenant.
type tenantSlots struct {
	open       int
	principals map[string]*list.List // of *slot, least recently used first
}

// slot is the slot of an open session.
type slot struct {
	of                *Slots
	tenant, principal string
	close             func()
	used              int64
	at                *list.Element // nil after eviction
}

// NewSlots returns Slots with the given number of slots, but at least 1.
func NewSlots(size int) *Slots {
	return &Slots{size: max(size, 1), tenants: map[string]*tenantSlots{}}
}

// principalOf returns the name under which the sessions of a caller are counted within a tenant.
// The name is the caller's API key or, if the caller has no key, the caller's user.
func principalOf(owner host.Caller) string {
	if owner.Actor != "" {
		return "actor " + owner.Actor
	}
	return "user " + owner.User
}

// take returns a slot for a new session. closeSession is called when the slot is evicted.
// closeSession must return quickly.
func (s *Slots) take(owner host.Caller, closeSession func()) (*slot, error) {
	entry := &slot{of: s, tenant: owner.Tenant, principal: principalOf(owner), close: closeSession}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.size {
		if s.closing >= s.size {
			return nil, abi.Faultf(abi.Unavailable, "the service has reached its limit of %d MCP sessions and is still closing old sessions", s.size).WithHint("retry in a few seconds")
		}
		other := s.victim(entry)
		s.remove(other)
		s.closing++
		other.close()
	}
	s.add(entry)
	return entry, nil
}

// victim returns the slot that a new session evicts. victim selects the tenant with the most slots,
// and then the principal of this tenant that has the most slots. If several principals have the
// most slots, victim selects the least recently used slot of these principals.
func (s *Slots) victim(newcomer *slot) (victim *slot) {
	var maximum [2]int
	for tenant, t := range s.tenants {
		for principal, uses := range t.principals {
			own := tenant == newcomer.tenant
			weight := [2]int{weigh(t.open, own), weigh(uses.Len(), own && principal == newcomer.principal)}
			entry := uses.Front().Value.(*slot)
			order := slices.Compare(weight[:], maximum[:])
			if victim == nil || order > 0 || order == 0 && entry.used < victim.used {
				victim, maximum = entry, weight
			}
		}
	}
	return victim
}

// weigh returns the weight of a tenant or a principal. The tenant or principal with the largest
// weight loses a slot. The weight of the owner of a new session includes the new session. If two
// weights are equal, the owner of the new session loses the slot.
func weigh(open int, own bool) int {
	if own {
		return 2*(open+1) + 1
	}
	return 2 * open
}

// add adds a slot as the most recently used slot.
func (s *Slots) add(entry *slot) {
	tenant := s.tenants[entry.tenant]
	if tenant == nil {
		tenant = &tenantSlots{principals: map[string]*list.List{}}
		s.tenants[entry.tenant] = tenant
	}
	slots := tenant.principals[entry.principal]
	if slots == nil {
		slots = list.New()
		tenant.principals[entry.principal] = slots
	}
	s.clock++
	entry.used = s.clock
	entry.at = slots.PushBack(entry)
	tenant.open++
	s.open++
}

// remove removes a slot.
func (s *Slots) remove(entry *slot) {
	tenant := s.tenants[entry.tenant]
	slots := tenant.principals[entry.principal]
	slots.Remove(entry.at)
	entry.at = nil
	s.open--
	if slots.Len() == 0 {
		delete(tenant.principals, entry.principal)
	}
	if tenant.open--; tenant.open == 0 {
		delete(s.tenants, entry.tenant)
	}
}

// use marks the slot as the most recently used slot.
func (entry *slot) use() {
	entry.of.mu.Lock()
	defer entry.of.mu.Unlock()
	if entry.at != nil {
		entry.of.clock++
		entry.used = entry.of.clock
		entry.of.tenants[entry.tenant].principals[entry.principal].MoveToBack(entry.at)
	}
}

// free releases the slot after its session has ended.
func (entry *slot) free() {
	entry.of.mu.Lock()
	defer entry.of.mu.Unlock()
	if entry.at == nil {
		entry.of.closing--
		return
	}
	entry.of.remove(entry)
}
