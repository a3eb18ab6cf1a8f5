package tenants

import (
	"fmt"
	"testing"
)

// appsOf returns n apps of a tenant.
func appsOf(tenant string, n int) (all []hostKey) {
	for i := range n {
		all = append(all, hostKey{tenant, fmt.Sprint("app", i)})
	}
	return all
}

// TestPlacesAreBounded checks three maximum numbers of places: in total, for each tenant, and for
// each app.
func TestPlacesAreBounded(t *testing.T) {
	p := newPlaces()
	waiting := append(appsOf("big", 10), appsOf("small", 1)...)
	if got := p.take(waiting); len(got) != sleeperTenant+1 || got[1].tenant != "small" {
		t.Errorf("the first apps are %v; want %d of big and one of small, in turns", got, sleeperTenant)
	}
	if got := p.take(waiting); len(got) != 0 {
		t.Errorf("the next apps are %v; want none", got)
	}
	for i := range 10 {
		waiting = append(waiting, appsOf(fmt.Sprint("tenant", i), 1)...)
	}
	if got := p.take(waiting); len(got) != sleeperRunners-sleeperTenant-1 {
		t.Errorf("the next apps are %v; want one for each free place", got)
	}
}

// TestPlacesTakeTurns checks that every app has a turn before any app has a second turn. This order
// must be kept even if all runs end between two passes.
func TestPlacesTakeTurns(t *testing.T) {
	p := newPlaces()
	waiting := appsOf("big", 20)
	for i := range 5 {
		waiting = append(waiting, appsOf(fmt.Sprint("tenant", i), 1)...)
	}
	served := map[hostKey]int{}
	for pass := range 20 {
		taken := p.take(waiting)
		for _, at := range taken {
			served[at]++
			p.leave(at)
		}
		if pass == 0 && len(taken) != sleeperRunners {
			t.Errorf("the first pass has %d apps; want %d", len(taken), sleeperRunners)
		}
	}
	low, high := 1<<30, 0
	for _, at := range appsOf("big", 20) {
		low, high = min(low, served[at]), max(high, served[at])
	}
	if low < 1 || high-low > 1 {
		t.Errorf("the apps of a tenant have %d to %d turns; want equal numbers", low, high)
	}
	for i := range 5 {
		if n := served[hostKey{fmt.Sprint("tenant", i), "app0"}]; n < 10 {
			t.Errorf("tenant%d has %d turns in 20 passes; want its share", i, n)
		}
	}
}
