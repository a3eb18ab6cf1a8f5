package mcpapi

import (
	"container/list"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// Slots is the bound on the MCP sessions of all servers that share it. If all slots are taken, the session that was used
// least recently makes room: of the tenant that has most, and there of the principal that has most. So a tenant keeps no
// other out, nor does a principal another one of its tenant. It is safe for concurrent use.
type Slots struct {
	size int

	mu      sync.Mutex
	clock   int64 // counts uses
	open    int
	closing int // sessions that made room and have not ended yet
	tenants map[string]*tenantSlots
}

// tenantSlots are those that the sessions of a tenant have.
type tenantSlots struct {
	open       int
	principals map[string]*list.List // of *slot, the one that was used least recently first
}

// slot is what an open session has of Slots.
type slot struct {
	of                *Slots
	tenant, principal string
	close             func()
	used              int64
	at                *list.Element // nil once it made room for another one
}

// NewSlots returns slots for a number of sessions, at least 1.
func NewSlots(size int) *Slots {
	return &Slots{size: max(size, 1), tenants: map[string]*tenantSlots{}}
}

// principalOf is whose sessions within a tenant are counted together: those of a key whatever users it names, or those of
// a user where no program is known.
func principalOf(owner host.Caller) string {
	if owner.Actor != "" {
		return "actor " + owner.Actor
	}
	return "user " + owner.User
}

// take returns a slot for a session, which closeSession closes when it has to make room. It must return soon.
func (s *Slots) take(owner host.Caller, closeSession func()) (*slot, error) {
	entry := &slot{of: s, tenant: owner.Tenant, principal: principalOf(owner), close: closeSession}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.size {
		if s.closing >= s.size {
			return nil, abi.Faultf(abi.Unavailable, "the service has %d MCP sessions, as many as it may have, and closes as many others", s.size).WithHint("try again in some seconds")
		}
		other := s.victim(entry)
		s.remove(other)
		s.closing++
		other.close()
	}
	s.add(entry)
	return entry, nil
}

// victim is the slot that makes room for a newcomer: of the tenant that has most, there of the principal that has most, and
// of several such the one that was used least recently.
func (s *Slots) victim(newcomer *slot) (victim *slot) {
	var most [2]int
	for tenant, t := range s.tenants {
		for principal, uses := range t.principals {
			own := tenant == newcomer.tenant
			weight := [2]int{weigh(t.open, own), weigh(uses.Len(), own && principal == newcomer.principal)}
			entry := uses.Front().Value.(*slot)
			order := slices.Compare(weight[:], most[:])
			if victim == nil || order > 0 || order == 0 && entry.used < victim.used {
				victim, most = entry, weight
			}
		}
	}
	return victim
}

// weigh compares parties by what they have. The newcomer counts with its own party, which makes room before others that have
// as many.
func weigh(open int, own bool) int {
	if own {
		return 2*(open+1) + 1
	}
	return 2 * open
}

// add counts a slot as the one that was used last.
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

// remove counts a slot no longer.
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

// use notes a use of the session.
func (entry *slot) use() {
	entry.of.mu.Lock()
	defer entry.of.mu.Unlock()
	if entry.at != nil {
		entry.of.clock++
		entry.used = entry.of.clock
		entry.of.tenants[entry.tenant].principals[entry.principal].MoveToBack(entry.at)
	}
}

// free gives a slot back when its session has ended.
func (entry *slot) free() {
	entry.of.mu.Lock()
	defer entry.of.mu.Unlock()
	if entry.at == nil {
		entry.of.closing--
		return
	}
	entry.of.remove(entry)
}
