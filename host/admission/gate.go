package admission

import (
	"context"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Flow identifies the runs that share a queue. All runs of a Flow belong to the same tenant, the
// same app and the same user.
type Flow struct {
	App string
	// Tenant and User are the ids of the tenant and the user. An unknown id is "".
	Tenant string
	User   string
}

// Gate admits runs. Gate is safe for concurrent use.
type Gate struct {
	limits Limits

	mu    sync.Mutex
	root  *node
	spare spares
}

// New returns a Gate. If a limit is negative, New returns an error.
func New(limits Limits) (*Gate, error) {
	if err := limits.check(); err != nil {
		return nil, err
	}
	g := &Gate{limits: limits.withDefaults()}
	g.root = g.spare.take()
	return g, nil
}

// Limits returns the limits of the gate, with defaults filled in.
func (g *Gate) Limits() Limits { return g.limits }

// Acquire waits until a run is admitted or ctx ends. If Acquire returns nil, Release must be called
// with the same Flow when the run ends. The error is an *abi.Fault. If too many runs already wait,
// the code of the fault is unavailable. If ctx has ended, the code of the fault is timeout or
// cancelled.
func (g *Gate) Acquire(ctx context.Context, f Flow) error {
	if ctx.Err() != nil {
		return engine.FaultFromContext(ctx)
	}
	g.mu.Lock()
	u := g.find(f)
	if u.queue.Len() == 0 && g.free(u) {
		u.count(1)
		g.mu.Unlock()
		return nil
	}
	if err := g.makeRoom(u); err != nil {
		g.spare.forget(u)
		g.mu.Unlock()
		return err
	}
	w := &waiter{decided: make(chan struct{})}
	u.add(w)
	g.mu.Unlock()
	return g.await(ctx, u, w)
}

// await waits until a run in a user's queue is admitted or rejected. If ctx ends first, await stops
// waiting.
func (g *Gate) await(ctx context.Context, u *node, w *waiter) error {
	select {
	case <-w.decided:
		return w.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.decided: // the run was admitted while ctx ended: the next run gets its slot
		if w.err == nil {
			g.release(u)
		}
	default:
		w.remove(false)
		g.spare.forget(u)
	}
	return engine.FaultFromContext(ctx)
}

// Release ends a run that Acquire admitted.
func (g *Gate) Release(f Flow) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.release(g.find(f))
}

// Waiting returns the number of waiting runs.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.root.waiting
}

// find returns the user node of a flow.
func (g *Gate) find(f Flow) *node {
	return g.spare.child(g.spare.child(g.spare.child(g.root, f.Tenant), f.App), f.User)
}

// free reports whether one more run of a user may be admitted.
func (g *Gate) free(u *node) bool {
	free := true
	u.each(func(at *node) { free = free && g.mayRun(at) })
	return free
}

// mayRun reports whether the bound of a node allows one more run. mayRun ignores the bounds of
// other nodes.
func (g *Gate) mayRun(n *node) bool {
	if n.unknown() {
		return true
	}
	return n.running < [levels]int{g.limits.Running, g.limits.PerTenant, g.limits.PerApp, g.limits.PerUser}[n.level]
}

// unknown reports whether a node belongs to an unknown tenant or user.
func (n *node) unknown() bool { return n.name == "" && (n.level == ofTenant || n.level == ofUser) }

func (g *Gate) release(u *node) {
	u.count(-1)
	g.next()
	g.spare.forget(u)
}

// The method "next" admits all runs that can start now. The method "next" skips no node except
// those that have reached their bound.
func (g *Gate) next() {
	for {
		u := g.chosen(g.root)
		if u == nil {
			return
		}
		w := u.queue.Front().Value.(*waiter)
		w.remove(true)
		u.count(1)
		close(w.decided)
	}
}

// chosen selects the next run to admit among the runs below a node, and returns the node of the
// run's user. If no run can be admitted, chosen returns nil.
func (g *Gate) chosen(n *node) *node {
	if !g.mayRun(n) || n.waiting == 0 {
		return nil
	}
	if n.level == ofUser {
		return n
	}
	for at := n.turns.Front(); at != nil; at = at.Next() {
		if u := g.chosen(at.Value.(*node)); u != nil {
			return u
		}
	}
	return nil
}

// makeRoom makes room in the queues for a new run of a user. If a level has reached its bound, and
// another queue is longer than the queue of the new run, the new run replaces the last run of the
// longest queue. If no other queue is longer, the new run is rejected with an error that contains
// the bound.
func (g *Gate) makeRoom(u *node) error {
	var path [levels]*node
	u.each(func(at *node) { path[at.level] = at })
	for l := ofUser; l >= all; l-- {
		at := path[l]
		if at.unknown() || at.waiting < [levels]int{g.limits.Waiting, g.limits.WaitingPerTenant, g.limits.WaitingPerApp, g.limits.WaitingPerUser}[l] {
			continue
		}
		if l == ofUser || !g.pushOut(at, path) {
			return tooMany(l, at.waiting)
		}
	}
	return nil
}

// pushOut looks for the longest queue below a node. If this queue is longer than the queue of the
// new run, pushOut removes the last run of the longest queue. The argument "path" is the path of
// the new run.
func (g *Gate) pushOut(n *node, path [levels]*node) bool {
	at, l := n, n.level
	for at.level < ofUser {
		longest := at.longest()
		if at == path[at.level] && longest.waiting <= path[at.level+1].waiting+1 && longest != path[at.level+1] {
			longest = path[at.level+1]
		}
		if longest.waiting == 0 {
			return false
		}
		at = longest
	}
	if at == path[ofUser] {
		return false
	}
	w := at.queue.Back().Value.(*waiter)
	if w.resumed {
		return false
	}
	w.err = tooMany(l, n.waiting)
	w.remove(false)
	g.spare.forget(at)
	close(w.decided)
	return true
}

func tooMany(l level, waiting int) error {
	whose := [levels]string{"in total", "for this tenant", "for this app", "for this user"}[l]
	return abi.Faultf(abi.Unavailable, "too many runs are waiting (%d %s)", waiting, whose).
		WithHint("retry in a second, with fewer concurrent requests")
}
