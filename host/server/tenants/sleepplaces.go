package tenants

import (
	"container/list"
)

const (
	// sleeperRunners is the maximum number of apps whose runs are in progress at the same time. An
	// app counts once for each tenant: while the runs of the app for a tenant are in progress, they
	// take one place. A tenant has at most sleeperTenant places, so the runs of one tenant do not
	// delay the runs of other tenants.
	sleeperRunners = 8
	sleeperTenant  = 4
	// maxRecent is the maximum number of keys in the map "recent" of places.
	maxRecent = 100_000
)

// places assigns the places for runs of sleep-time memory to apps of tenants. The tenants take
// turns, and so do the apps of a tenant. places is not safe for concurrent use.
type places struct {
	running  map[hostKey]bool
	byTenant map[string]int // the number of places of each tenant
	count    int            // the number of turns so far
	// recent maps each tenant, and each app of a tenant, to its last turn. The key of a tenant has
	// the app "". The list "order" contains the keys of the map "recent", with the least recent key
	// first. A key that is missing in the map has its turn before all other keys.
	recent map[hostKey]recentTurn
	order  *list.List // of hostKey
}

type recentTurn struct {
	turn    int
	inOrder *list.Element
}

func newPlaces() *places {
	return &places{running: map[hostKey]bool{}, byTenant: map[string]int{}, recent: map[hostKey]recentTurn{}, order: list.New()}
}

// take assigns free places to waiting apps, and returns the apps that have a place now.
func (p *places) take(waiting []hostKey) (taken []hostKey) {
	for len(p.running) < sleeperRunners {
		at, ok := p.next(waiting)
		if !ok {
			break
		}
		p.running[at] = true
		p.byTenant[at.tenant]++
		p.count++
		p.remember(hostKey{tenant: at.tenant})
		p.remember(at)
		taken = append(taken, at)
	}
	return taken
}

// The method "next" returns the next waiting app. Only tenants that can have another place are
// considered. The method first selects the tenant with the least recent turn. Then, the method
// selects the app with the least recent turn from the apps of this tenant.
func (p *places) next(waiting []hostKey) (found hostKey, ok bool) {
	for _, at := range waiting {
		if p.running[at] || p.byTenant[at.tenant] >= sleeperTenant {
			continue
		}
		if !ok || p.before(at, found) {
			found, ok = at, true
		}
	}
	return found, ok
}

// The method "before" reports whether the app a has its turn before the app b.
func (p *places) before(a, b hostKey) bool {
	if a.tenant != b.tenant {
		return p.recent[hostKey{tenant: a.tenant}].turn < p.recent[hostKey{tenant: b.tenant}].turn
	}
	return p.recent[a].turn < p.recent[b].turn
}

// remember records that a tenant or an app has had its turn.
func (p *places) remember(at hostKey) {
	if r, ok := p.recent[at]; ok {
		p.order.Remove(r.inOrder)
	}
	p.recent[at] = recentTurn{p.count, p.order.PushBack(at)}
	if p.order.Len() > maxRecent {
		delete(p.recent, p.order.Remove(p.order.Front()).(hostKey))
	}
}

// leave frees the place of an app.
func (p *places) leave(at hostKey) {
	delete(p.running, at)
	if p.byTenant[at.tenant]--; p.byTenant[at.tenant] == 0 {
		delete(p.byTenant, at.tenant)
	}
}
