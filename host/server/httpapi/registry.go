package httpapi

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

const (
	// runsKept is how long a run is found after its end.
	resultRetention = 10 * time.Minute
	// keptBytes bounds the Results of runs that have ended; a tenant has at most a quarter of it, one of its callers a
	// sixteenth.
	maxResultBytes = 64 << 20
	// entryBytes is what a run without its Result counts.
	entryBytes = 1 << 10
)

// statusDone is that of a run that has ended; the others are states of the host.
const statusDone = "done"

// errCancelledByID is why a run ends that a request cancels.
var errCancelledByID = abi.Faultf(abi.Cancelled, "the run was cancelled by a request")

// registry finds runs by their ids: those under way, and those that ended a short time ago. It is safe for concurrent use.
type registry struct {
	now   func() time.Time
	bytes int64 // that Results may have

	mu      sync.Mutex
	runs    map[string]*trackedRun
	ended   list.List // of *tracked, in the order of their ends
	total   int64
	tenants map[string]*tenantResults
}

// keptTenant counts what is kept for a tenant and for each of its callers.
type tenantResults struct {
	bytes  int64
	owners map[identity]*callerResults
}

type callerResults struct {
	bytes int64
	ended list.List // of *tracked, in the order of their ends
}

// tracked is a run with who asked for it.
type trackedRun struct {
	apitypes.Run
	app    string
	owner  identity
	cancel context.CancelCauseFunc
	// forgotten says that nothing of the run is kept when it ends: its user was erased.
	forgotten bool
	result    []byte // as JSON; nil until it has ended, and if it is too large
	// inAll and inOwner are its places in the lists of runs that have ended.
	inAll, inOwner *list.Element
}

// microseconds is the time in the precision of all others that are answered.
func microseconds() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func newRegistry(now func() time.Time) *registry {
	return &registry{now: now, bytes: maxResultBytes, runs: map[string]*trackedRun{}, tenants: map[string]*tenantResults{}}
}

// identityOf is what a principal is counted by.
func identityOf(p auth.Principal) identity {
	return identity{p.Tenant, string(p.Role), p.Name, p.User}
}

// ownerOf is whose the runs of a principal are: of the user that a token is for, or of the key.
func ownerOf(p auth.Principal) identity {
	owner := identityOf(p)
	if p.Role == auth.User {
		owner.name = "" // of a token, which the next one need not have
	}
	return owner
}

// enter notes a state of a run, which is tracked from its first one on.
func (g *registry) enter(id string, state host.RunState, begin func() *trackedRun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, at := g.runs[id], g.now()
	if t == nil {
		t = begin()
		t.ID, t.Created = id, at
		g.runs[id] = t
	}
	t.Status = string(state)
	if state == host.RunRunning && t.Started == nil {
		t.Started = &at
	}
}

// end keeps what came of a run for a while.
func (g *registry) end(id string, result *report.Result) {
	text, err := json.Marshal(result)
	if err != nil {
		text = nil // it cannot be answered either
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.now()
	g.expire(at)
	t := g.runs[id]
	if t == nil || t.forgotten {
		delete(g.runs, id)
		return
	}
	expires := at.Add(resultRetention)
	t.Status, t.Ended, t.Expires, t.cancel = statusDone, &at, &expires, nil
	if int64(len(text)) <= g.bytes/16-entryBytes {
		t.result = text
	}
	g.keep(t)
}

// keep adds a run that has ended, and makes room for it. The caller holds mu.
func (g *registry) keep(t *trackedRun) {
	tenant := g.tenants[t.owner.tenant]
	if tenant == nil {
		tenant = &tenantResults{owners: map[identity]*callerResults{}}
		g.tenants[t.owner.tenant] = tenant
	}
	owner := tenant.owners[t.owner]
	if owner == nil {
		owner = &callerResults{}
		tenant.owners[t.owner] = owner
	}
	t.inAll, t.inOwner = g.ended.PushBack(t), owner.ended.PushBack(t)
	g.count(t, tenant, owner, 1)
	for owner.bytes > g.bytes/16 {
		g.drop(owner.ended.Front().Value.(*trackedRun))
	}
	// To look for who has most takes time: room is made for many runs at once.
	for over := tenant.bytes > g.bytes/4; over && tenant.bytes > g.bytes/4*7/8; {
		g.drop(tenant.largest().ended.Front().Value.(*trackedRun))
	}
	for over := g.total > g.bytes; over && g.total > g.bytes*7/8; {
		g.drop(g.largest().largest().ended.Front().Value.(*trackedRun))
	}
}

func (g *registry) count(t *trackedRun, tenant *tenantResults, owner *callerResults, sign int64) {
	bytes := sign * (int64(len(t.result)) + entryBytes)
	g.total += bytes
	tenant.bytes += bytes
	owner.bytes += bytes
}

// drop forgets a run that has ended. The caller holds mu.
func (g *registry) drop(t *trackedRun) {
	tenant := g.tenants[t.owner.tenant]
	owner := tenant.owners[t.owner]
	g.count(t, tenant, owner, -1)
	g.ended.Remove(t.inAll)
	owner.ended.Remove(t.inOwner)
	if owner.ended.Len() == 0 {
		delete(tenant.owners, t.owner)
	}
	if len(tenant.owners) == 0 {
		delete(g.tenants, t.owner.tenant)
	}
	delete(g.runs, t.ID)
}

// expire forgets runs that ended long ago. The caller holds mu.
func (g *registry) expire(at time.Time) {
	for e := g.ended.Front(); e != nil; e = g.ended.Front() {
		t := e.Value.(*trackedRun)
		if at.Before(*t.Expires) {
			return
		}
		g.drop(t)
	}
}

// largest is the tenant that has most.
func (g *registry) largest() (largest *tenantResults) {
	for _, t := range g.tenants {
		if largest == nil || t.bytes > largest.bytes {
			largest = t
		}
	}
	return largest
}

// largest is the caller that has most.
func (k *tenantResults) largest() (largest *callerResults) {
	for _, o := range k.owners {
		if largest == nil || o.bytes > largest.bytes {
			largest = o
		}
	}
	return largest
}

var errNoRun = abi.Faultf(abi.NotFound, "there is no such run").
	WithHint("a run is found by who asked for it, and by operators, until %d minutes after its end", resultRetention/time.Minute)

// find returns a run of an app as it is now, if the principal may know of it.
func (g *registry) find(p auth.Principal, app, id string) (apitypes.Run, error) {
	g.mu.Lock()
	t, err := g.of(p, app, id)
	if err != nil {
		g.mu.Unlock()
		return apitypes.Run{}, err
	}
	found, text := t.Run, t.result
	g.mu.Unlock()
	if text == nil {
		return found, nil
	}
	found.Result = &report.Result{}
	return found, json.Unmarshal(text, found.Result)
}

// stop cancels a run of an app that is under way, if the principal may.
func (g *registry) stop(p auth.Principal, app, id string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, err := g.of(p, app, id)
	if err == nil && t.cancel != nil {
		t.Cancelled = true
		t.cancel(errCancelledByID)
	}
	return err
}

// of returns a run that the principal may know of. The caller holds mu.
func (g *registry) of(p auth.Principal, app, id string) (*trackedRun, error) {
	g.expire(g.now())
	t := g.runs[id]
	if t == nil || t.forgotten || t.app != app || !t.visibleTo(p) {
		return nil, errNoRun
	}
	return t, nil
}

// knownTo reports whether a principal may know of the run: an operator of its tenant, and who asked for it. A token that is
// for one session only knows of runs in that session.
func (t *trackedRun) visibleTo(p auth.Principal) bool {
	if p.Tenant != t.owner.tenant {
		return false
	}
	if p.Role == auth.Operator {
		return true
	}
	return ownerOf(p) == t.owner && (p.Session == "" || p.Session == t.Session)
}

// forget drops all that is kept of a user's runs, and will be of those under way.
func (g *registry) forget(tenant, user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.runs {
		if t.owner.tenant != tenant || t.User != user {
			continue
		}
		if t.inAll != nil {
			g.drop(t)
			continue
		}
		t.forgotten = true
	}
}
