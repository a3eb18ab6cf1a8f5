package mcpapi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// TestSlotsEqual starts with tenants that occupy all slots with one session each. The order of
// evictions must be fair. A new tenant evicts the least recently used session. A slot becomes free
// when it is released, even if its session was evicted.
func TestSlotsEqual(t *testing.T) {
	s, closed := NewSlots(4), []string{}
	take := func(tenant string) *slot {
		t.Helper()
		one, err := s.take(host.Caller{Tenant: tenant, Actor: "key"}, func() { closed = append(closed, tenant) })
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	var all []*slot
	for i := range 4 {
		all = append(all, take(fmt.Sprintf("t%d", i)))
	}
	all[0].use()
	all = append(all, take("t4"), take("t0"))
	if fmt.Sprint(closed) != "[t1 t0]" {
		t.Errorf("%v were evicted; want t1, the least recently used one, and the first of t0 for its second", closed)
	}
	for i := range 2 {
		all = append(all, take(fmt.Sprintf("n%d", i)))
	}
	if _, err := s.take(host.Caller{Tenant: "late"}, func() {}); !errors.Is(err, abi.Unavailable) {
		t.Errorf("while the maximum number of sessions is closing, a new one gets %v; want unavailable", err)
	}
	for _, one := range all {
		one.free()
	}
	if s.open != 0 || s.closing != 0 || len(s.tenants) != 0 {
		t.Errorf("%d are open of %d tenants, %d close; want none", s.open, len(s.tenants), s.closing)
	}
}
