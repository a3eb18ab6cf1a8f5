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
	// resultRetention is how long a run remains available after its end.
	resultRetention = 10 * time.Minute
	// maxResultBytes limits the total size of the kept Results. A tenant can use a quarter of the
	// total size, and each caller of a tenant can use a sixteenth of the total size.
	maxResultBytes = 64 << 20
	// entryBytes is the size that the registry counts for a run without a Result.
	entryBytes = 1 << 10
)

// statusDone is the status of a run that has ended. Package host defines all other statuses.
const statusDone = "done"

// errCancelledByID is the cancellation cause of a run that was canceled by a request.
var errCancelledByID = abi.Faultf(abi.Cancelled, "the run was canceled by a request")

// registry finds runs by id: the runs in progress and the runs that ended recently. registry is
// safe for concurrent use.
type registry struct {
	now   func() time.Time
	bytes int64 // maximum size of all Results

	mu      sync.Mutex
	runs    map[string]*trackedRun
	ended   list.List // of *trackedRun, ordered by end
	total   int64
	tenants map[string]*tenantResults
}

// tenantResults counts the kept runs and Results of a tenant and of each caller of the tenant.
type tenantResults struct {
	bytes  int64
	owners map[identity]*callerResults
}

type callerResults struct {
	bytes int64
	ended list.List // of *trackedRun, ordered by end
}

// trackedRun is a run with its owner.
type trackedRun struct {
	apitypes.Run
	app    string
	owner  identity
	cancel context.CancelCauseFunc
	// The field forgotten reports whether the user of the run was erased. The run of an erased user
	// is discarded when the run ends.
	forgotten bool
	result    []byte // JSON; nil before the run has ended or if the Result is too large
	// inAll and inOwner are the elements of this run in the lists of ended runs.
	inAll, inOwner *list.Element
}

// microseconds returns the current time, truncated to the precision of all times in responses.
func microseconds() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func newRegistry(now func() time.Time) *registry {
	return &registry{now: now, bytes: maxResultBytes, runs: map[string]*trackedRun{}, tenants: map[string]*tenantResults{}}
}

// identityOf returns the identity under which a principal is counted.
func identityOf(p auth.Principal) identity {
	return identity{p.Tenant, string(p.Role), p.Name, p.User}
}

// ownerOf returns the owner of the runs that a principal starts: the user of a token, or the key.
func ownerOf(p auth.Principal) identity {
	owner := identityOf(p)
	if p.Role == auth.User {
		owner.name = "" // the next token of the same user may have another subject
	}
	return owner
}

// enter records a state of a run. The first call for a run adds the run to the registry.
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

// end records the Result of a run. The registry keeps the Result for the time resultRetention.
func (g *registry) end(id string, result *report.Result) {
	text, err := json.Marshal(result)
	if err != nil {
		text = nil // the response fails for the same reason
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

// keep adds a run that has ended and evicts older runs if necessary. The caller holds mu.
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
	// Finding the largest owner is slow, so each eviction removes many runs.
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

// drop removes a run that has ended. The caller holds mu.
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

// expire removes runs whose retention time has passed. The caller holds mu.
func (g *registry) expire(at time.Time) {
	for e := g.ended.Front(); e != nil; e = g.ended.Front() {
		t := e.Value.(*trackedRun)
		if at.Before(*t.Expires) {
			return
		}
		g.drop(t)
	}
}

// The method largest returns the tenant that uses the most bytes.
func (g *registry) largest() (largest *tenantResults) {
	for _, t := range g.tenants {
		if largest == nil || t.bytes > largest.bytes {
			largest = t
		}
	}
	return largest
}

// The method largest returns the caller that uses the most bytes.
func (k *tenantResults) largest() (largest *callerResults) {
	for _, o := range k.owners {
		if largest == nil || o.bytes > largest.bytes {
			largest = o
		}
	}
	return largest
}

var errNoRun = abi.Faultf(abi.NotFound, "the run does not exist").
	WithHint("use the credentials that started the run, within %d minutes after its end", resultRetention/time.Minute)

// errNotCancellable is the fault for an attempt to cancel a run that no request has started.
var errNotCancellable = abi.Faultf(abi.InvalidArgument, "a run of sleep-time memory cannot be canceled").
	WithHint("pause sleep-time memory to prevent further runs")

// find returns the current state of a run of an app, provided that the principal may see the run.
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

// stop cancels a run that is in progress, provided that the principal may see the run.
func (g *registry) stop(p auth.Principal, app, id string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, err := g.of(p, app, id)
	if err == nil && t.cancel == nil && t.Ended == nil {
		return errNotCancellable
	}
	if err == nil && t.cancel != nil {
		t.Cancelled = true
		t.cancel(errCancelledByID)
	}
	return err
}

// The method "of" returns a run, provided that the principal may see the run. The caller holds mu.
func (g *registry) of(p auth.Principal, app, id string) (*trackedRun, error) {
	g.expire(g.now())
	t := g.runs[id]
	if t == nil || t.forgotten || t.app != app || !t.visibleTo(p) {
		return nil, errNoRun
	}
	return t, nil
}

// visibleTo reports whether a principal may see the run. Operators see all runs of their tenant,
// and owners see their own runs. A token for one session sees only runs in that session.
func (t *trackedRun) visibleTo(p auth.Principal) bool {
	if p.Tenant != t.owner.tenant {
		return false
	}
	if p.Role == auth.Operator {
		return true
	}
	return ownerOf(p) == t.owner && (p.Session == "" || p.Session == t.Session)
}

// forget removes all runs of a user. Runs in progress are removed when they end.
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
