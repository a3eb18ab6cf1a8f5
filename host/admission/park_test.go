package admission_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
)

// parkedGate returns a gate that admits one run at a time.
func parkedGate(t *testing.T, limits admission.Limits) *admission.Gate {
	t.Helper()
	limits.Running = 1
	gate, err := admission.New(limits)
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

func TestParkFreesSlot(t *testing.T) {
	gate, ctx := parkedGate(t, admission.Limits{}), t.Context()
	ann, bob := admission.Flow{Tenant: "t", User: "ann"}, admission.Flow{Tenant: "t", User: "bob"}
	for _, flow := range []admission.Flow{ann, bob} {
		if err := gate.Acquire(ctx, flow); err != nil {
			t.Fatal(err)
		}
		if err := gate.Park(flow, false); err != nil {
			t.Fatal(err)
		}
	}
	if n := gate.Parked(); n != 2 {
		t.Errorf("Parked = %d; want 2", n)
	}
	if err := gate.Unpark(ctx, ann); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := gate.Unpark(ended, bob); !errors.Is(err, abi.Cancelled) {
		t.Errorf("Unpark of an ended run = %v; want cancelled", err)
	}
	gate.Release(ann)
	if n := gate.Parked(); n != 0 {
		t.Errorf("Parked = %d; want 0", n)
	}
	if err := gate.Acquire(ctx, bob); err != nil {
		t.Errorf("Acquire = %v; want the free slot", err)
	}
}

func TestParkBounds(t *testing.T) {
	ann, bob := admission.Flow{Tenant: "t", App: "a", User: "ann"}, admission.Flow{Tenant: "t", App: "a", User: "bob"}
	other := admission.Flow{Tenant: "u", App: "a", User: "ann"}
	for name, c := range map[string]struct {
		limits  admission.Limits
		refused []admission.Flow
		allowed []admission.Flow
	}{
		"user":   {admission.Limits{ParkedPerUser: 1}, []admission.Flow{ann}, []admission.Flow{bob, other}},
		"app":    {admission.Limits{ParkedPerApp: 1}, []admission.Flow{ann, bob}, []admission.Flow{other}},
		"tenant": {admission.Limits{ParkedPerTenant: 1}, []admission.Flow{ann, bob}, []admission.Flow{other}},
		"all":    {admission.Limits{Parked: 1}, []admission.Flow{ann, bob, other}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			gate := parkedGate(t, c.limits)
			park := func(f admission.Flow, again bool) error {
				if err := gate.Acquire(t.Context(), f); err != nil {
					t.Fatal(err)
				}
				err := gate.Park(f, again)
				if err != nil {
					gate.Release(f)
				}
				return err
			}
			if err := park(ann, false); err != nil {
				t.Fatal(err)
			}
			for _, f := range c.refused {
				if err := park(f, false); !errors.Is(err, abi.Unavailable) {
					t.Errorf("Park of %v = %v; want unavailable", f, err)
				}
			}
			for _, f := range c.allowed {
				if err := park(f, false); err != nil {
					t.Errorf("Park of %v = %v", f, err)
				}
			}
			if err := park(ann, true); err != nil {
				t.Errorf("Park again = %v; want success", err)
			}
		})
	}
}

// Parked runs must be admitted in the order in which they return, and tenants must take turns. If
// the queue is full, a new run of the user must be rejected, but a parked run must not be rejected.
func TestUnparkIsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, ctx := parkedGate(t, admission.Limits{Waiting: 2}), t.Context()
		ann, bob := admission.Flow{Tenant: "t", User: "ann"}, admission.Flow{Tenant: "u", User: "bob"}
		for range 2 {
			if gate.Acquire(ctx, ann) != nil || gate.Park(ann, false) != nil {
				t.Fatal("cannot park")
			}
		}
		if err := gate.Acquire(ctx, ann); err != nil {
			t.Fatal(err)
		}
		var order []string
		wait := func(name string, flow admission.Flow, enter func() error) {
			go func() {
				if err := enter(); errors.Is(err, abi.Unavailable) {
					order = append(order, name+" replaced")
					return
				}
				order = append(order, name)
				gate.Release(flow)
			}()
			synctest.Wait()
		}
		wait("new", ann, func() error { return gate.Acquire(ctx, ann) })
		wait("first", ann, func() error { return gate.Unpark(ctx, ann) })
		wait("second", ann, func() error { return gate.Unpark(ctx, ann) })
		wait("other", bob, func() error { return gate.Acquire(ctx, bob) }) // replaces new
		wait("another", bob, func() error { return gate.Acquire(ctx, bob) })
		gate.Release(ann)
		synctest.Wait()
		if want := []string{"new replaced", "another replaced", "first", "other", "second"}; !slices.Equal(order, want) {
			t.Errorf("the order is %q; want %q", order, want)
		}
	})
}
