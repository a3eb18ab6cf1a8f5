package mcpapi

import (
	"container/list"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// Slots bounds the MCP sessions of all servers that share it. If all slots are taken, the least
// recently used session is evicted: of the tenant with the most sessions, and there of the
// principal with the most. A tenant thus cannot lock out others, nor can a principal within a
// tenant. It is safe for concurrent use.
type Slots struct {
	size int

	mu      sync.Mutex
	clock   int64 // counts uses
	open    int
	closing int // evicted sessions that have not ended yet
	tenants map[string]*tenantSlots
}

// tenantSlots are the slots of a tenant.
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
	at                *list.Element // nil after its eviction
}

// NewSlots returns a number of slots, at least 1.
func NewSlots(size int) *Slots {
	return &Slots{size: max(size, 1), tenants: map[string]*tenantSlots{}}
}

// principalOf returns the principal within a tenant by which sessions are counted: the key, for any
// user that it names, or the user if there is no key.
func principalOf(owner host.Caller) string {
	if owner.Actor != "" {
		return "actor " + owner.Actor
	}
	return "user " + owner.User
}

// take returns a slot for a session. closeSession is called when it is evicted, and must return
// soon.
func (s *Slots) take(owner host.Caller, closeSession func()) (*slot, error) {
	entry := &slot{of: s, tenant: owner.Tenant, principal: principalOf(owner), close: closeSession}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.size {
		if s.closing >= s.size {
			return nil, abi.Faultf(abi.Unavailable, "the service has reached its limit of %d MCP sessions, and is still closing as many others", s.size).WithHint("retry in a few seconds")
		}
		other := s.victim(entry)
		s.remove(other)
		s.closing++
		other.close()
	}
	s.add(entry)
	return entry, nil
}

// victim returns the slot to evict for a newcomer: of the tenant with the most slots, there of the
// principal with the most, and on a tie the least recently used one.
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

// weigh returns the weight of a party for eviction. The newcomer counts for its own party, which is
// evicted before others of the same size.
func weigh(open int, own bool) int {
	if own {
		return 2*(open+1) + 1
	}
	return 2 * open
}

// add adds a slot as the most recently used one.
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

// use records a use of the session.
func (entry *slot) use() {
	entry.of.mu.Lock()
	defer entry.of.mu.Unlock()
	if entry.at != nil {
		entry.of.clock++
		entry.used = entry.of.clock
		entry.of.tenants[entry.tenant].principals[entry.principal].MoveToBack(entry.at)
	}
}

// free releases the slot of a session that has ended.
func (entry *slot) free() {
	entry.of.mu.Lock()
	defer entry.of.mu.Unlock()
	if entry.at == nil {
		entry.of.closing--
		return
	}
	entry.of.remove(entry)
}
