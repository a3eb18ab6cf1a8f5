package admission

import (
	"context"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Park parks an admitted run, which waits for something outside of the host. The next waiting run
// gets the slot of the parked run. When the parked run no longer waits, Unpark must be called. If
// too many runs are already parked, the error is the fault unavailable, and the run keeps its slot.
// If the argument "again" is true, the run was parked before, and this bound does not apply to it,
// because its calls are already in progress.
func (g *Gate) Park(f Flow, again bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.find(f)
	if err := g.mayPark(u); err != nil && !again {
		return err
	}
	u.park(1)
	g.release(u)
	return nil
}

// mayPark returns nil if one more run of the user may be parked, and otherwise an error that
// contains the bound.
func (g *Gate) mayPark(u *node) (err error) {
	u.each(func(at *node) {
		bound := [levels]int{g.limits.Parked, g.limits.ParkedPerTenant, g.limits.ParkedPerApp, g.limits.ParkedPerUser}[at.level]
		if err == nil && !at.unknown() && at.parked >= bound {
			whose := [levels]string{"in total", "for this tenant", "for this app", "for this user"}[at.level]
			err = abi.Faultf(abi.Unavailable, "too many runs are waiting for external calls (%d %s)", at.parked, whose).
				WithHint("retry later, with fewer concurrent requests")
		}
	})
	return err
}

// Unpark waits until a parked run is admitted again. The run waits ahead of its user's new runs. If
// ctx ends first, Unpark returns the fault of ctx. If Unpark fails, the run has ended, and Release
// must not be called for the run.
func (g *Gate) Unpark(ctx context.Context, f Flow) error {
	g.mu.Lock()
	u := g.find(f)
	if ctx.Err() != nil {
		u.park(-1)
		g.spare.forget(u)
		g.mu.Unlock()
		return engine.FaultFromContext(ctx)
	}
	if !g.resumes(u) && g.free(u) {
		u.count(1)
		u.park(-1)
		g.mu.Unlock()
		return nil
	}
	w := &waiter{decided: make(chan struct{}), resumed: true}
	u.add(w)
	g.mu.Unlock()
	err := g.await(ctx, u, w)
	g.mu.Lock()
	defer g.mu.Unlock()
	u.park(-1)
	g.spare.forget(u)
	return err
}

// resumes reports whether the queue of a user contains a resumed run.
func (g *Gate) resumes(u *node) bool {
	first := u.queue.Front()
	return first != nil && first.Value.(*waiter).resumed
}

// Parked returns the number of parked runs, including runs that wait to be admitted again.
func (g *Gate) Parked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.root.parked
}
