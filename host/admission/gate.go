package admission

import (
	"container/list"
	"context"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Party is on whose behalf something runs.
type Party struct {
	App    string
	Tenant string
	// User is "" where it is not known.
	User string
}

// Gate lets runs in. It is safe for concurrent use.
type Gate struct {
	limits Limits

	mu      sync.Mutex
	running int
	waiting int
	apps    map[appKey]*app
	turns   list.List // of *app: those with somebody who waits, the next one first
}

type appKey struct{ app, tenant string }

// app is one app of a tenant with somebody who runs or waits.
type app struct {
	key     appKey
	running int
	waiting int
	users   map[string]*user
	turns   list.List     // of *user: those who wait, the next one first
	place   *list.Element // in the turns of the gate, nil for none
}

// user is one user of an app who runs something or waits.
type user struct {
	name    string
	running int
	queue   list.List     // of chan struct{}, each closed when its run gets in
	place   *list.Element // in the turns of the app, nil for none
}

// New makes a Gate. Negative limits are an error.
func New(limits Limits) (*Gate, error) {
	if err := limits.check(); err != nil {
		return nil, err
	}
	return &Gate{limits: limits.withDefaults(), apps: map[appKey]*app{}}, nil
}

// Enter waits for a run's turn, at most until ctx ends. Where it returns nil, Leave is called with the same Party in
// the end. The error is an *abi.Fault: unavailable where too many wait already, timeout or cancelled where ctx ended.
func (g *Gate) Enter(ctx context.Context, p Party) error {
	if ctx.Err() != nil {
		return engine.EndOf(ctx)
	}
	g.mu.Lock()
	a, u := g.find(p)
	if u.queue.Len() == 0 && g.free(a, u) {
		g.admit(a, u)
		g.mu.Unlock()
		return nil
	}
	if err := g.full(a); err != nil {
		g.forget(a, u)
		g.mu.Unlock()
		return err
	}
	turn := make(chan struct{})
	waiter := g.enqueue(a, u, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-turn: // in the same moment: the turn is the next one's
		g.leave(a, u)
	default:
		u.queue.Remove(waiter)
		a.waiting--
		g.waiting--
		g.settle(a, u)
	}
	return engine.EndOf(ctx)
}

// Leave ends what Enter let in.
func (g *Gate) Leave(p Party) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(g.find(p))
}

// find returns the app and the user of a party, which are new if they neither run nor wait.
func (g *Gate) find(p Party) (*app, *user) {
	key := appKey{p.App, p.Tenant}
	a := g.apps[key]
	if a == nil {
		a = &app{key: key, users: map[string]*user{}}
		g.apps[key] = a
	}
	u := a.users[p.User]
	if u == nil {
		u = &user{name: p.User}
		a.users[p.User] = u
	}
	return a, u
}

// free reports whether one more of an app and a user may run.
func (g *Gate) free(a *app, u *user) bool {
	return g.running < g.limits.Running && a.running < g.limits.PerApp && a.free(u, g.limits.PerUser)
}

func (a *app) free(u *user, most int) bool { return u.name == "" || u.running < most }

// full says why nobody more may wait, nil if one may.
func (g *Gate) full(a *app) error {
	if a.waiting < g.limits.WaitingPerApp && g.waiting < g.limits.Waiting {
		return nil
	}
	return abi.Faultf(abi.Unavailable, "too many runs wait already: %d of this app, %d in all", a.waiting, g.waiting).
		WithHint("try again in a second, and ask for fewer at a time")
}

func (g *Gate) admit(a *app, u *user) {
	g.running++
	a.running++
	u.running++
}

func (g *Gate) leave(a *app, u *user) {
	g.running--
	a.running--
	u.running--
	g.next()
	g.forget(a, u)
}

func (g *Gate) enqueue(a *app, u *user, turn chan struct{}) *list.Element {
	g.waiting++
	a.waiting++
	if a.place == nil {
		a.place = g.turns.PushBack(a)
	}
	if u.place == nil {
		u.place = a.turns.PushBack(u)
	}
	return u.queue.PushBack(turn)
}

// next lets in all who may run now. Few are passed over: as many as there may be apps and users that run all they may.
func (g *Gate) next() {
	for g.running < g.limits.Running {
		a, u := g.chosen()
		if a == nil {
			return
		}
		turn := u.queue.Remove(u.queue.Front()).(chan struct{})
		a.waiting--
		g.waiting--
		g.admit(a, u)
		g.turns.MoveToBack(a.place)
		a.turns.MoveToBack(u.place)
		g.settle(a, u)
		close(turn)
	}
}

// chosen returns whose turn it is, nil for nobody's.
func (g *Gate) chosen() (*app, *user) {
	for at := g.turns.Front(); at != nil; at = at.Next() {
		a := at.Value.(*app)
		if a.running >= g.limits.PerApp {
			continue
		}
		for of := a.turns.Front(); of != nil; of = of.Next() {
			if u := of.Value.(*user); a.free(u, g.limits.PerUser) {
				return a, u
			}
		}
	}
	return nil, nil
}

// settle takes an app and a user out of the turns that do not wait any more, and forgets who does not run either.
func (g *Gate) settle(a *app, u *user) {
	if u.queue.Len() == 0 && u.place != nil {
		a.turns.Remove(u.place)
		u.place = nil
	}
	if a.waiting == 0 && a.place != nil {
		g.turns.Remove(a.place)
		a.place = nil
	}
	g.forget(a, u)
}

func (g *Gate) forget(a *app, u *user) {
	if u.running == 0 && u.queue.Len() == 0 {
		delete(a.users, u.name)
	}
	if a.running == 0 && a.waiting == 0 {
		delete(g.apps, a.key)
	}
}
