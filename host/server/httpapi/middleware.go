package httpapi

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// principalKey is the context key of the auth.Principal that sent a request. Handlers of the huma
// framework have no other access to the request.
type principalKey struct{}

// admittedKey is the context key of the time at which a request was admitted. Requests are admitted
// before their bodies are read.
type admittedKey struct{}

// call is an admitted request, with its sender and its app.
type call struct {
	principal auth.Principal
	app       string
	host      *host.Host
	release   func()
	// userMetadata lists the metadata keys that end users may set.
	userMetadata []string
	runs         *registry
}

// Access admits requests. Access authenticates the sender, limits the request rate and the memory
// of request bodies, and opens the app that a request selects. Access is safe for concurrent use.
type Access struct {
	apps         *tenants.Apps
	authenticate func(*http.Request) (auth.Principal, error)
	admitted     func(context.Context)
	limited      func(tenant string)
	recheck      time.Duration
	userMetadata []string
	limiter      limiter
	bodies       *byteSemaphore
	decodes      *byteSemaphore // limits concurrent decoding of large bodies
	runs         *registry
}

func newAccess(opts Options, runs *registry) *Access {
	return &Access{
		apps: opts.Apps, authenticate: opts.Authenticate, admitted: opts.Admitted, limited: opts.Limited, recheck: opts.Recheck,
		userMetadata: opts.UserMetadata, runs: runs, bodies: newByteSemaphore(cmp.Or(opts.BodyBytes, DefaultBodyBytes), "bodies"),
		decodes: newByteSemaphore(maxDecodes(), "large bodies"),
		limiter: limiter{rate: rate.Limit(opts.Rate), burst: max(opts.Burst, int(math.Ceil(opts.Rate)), 1)},
	}
}

// middleware admits a request only if the sender has the given permission. The body has not been
// read at this time.
func (a *Access) middleware(permission auth.Permission) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		p, err := a.admit(r, permission)
		if err != nil {
			refuse(ctx, err)
			return
		}
		if ctx, err = prepareRequest(ctx); err != nil {
			refuse(ctx, err)
			return
		}
		if b := bodyOf(ctx.Context()); b != nil && ctx.Operation().RequestBody.Content[multipartType] == nil {
			if err := a.reserveBody(r.Context(), p, b, r.ContentLength); err != nil {
				refuseUnread(ctx, err)
				return
			}
			defer b.free()
		}
		next(huma.WithValue(huma.WithValue(ctx, principalKey{}, p), admittedKey{}, time.Now()))
		bodyOf(ctx.Context()).discardRest(r) // the response is sent after this function returns
	}
}

// admit authenticates the sender of a request and checks a permission. The permission "" means that
// any valid credentials suffice.
func (a *Access) admit(r *http.Request, permission auth.Permission) (auth.Principal, error) {
	p, err := a.authenticate(r)
	if err != nil {
		return p, authProblem(err)
	}
	if wait := a.limiter.wait(p); wait > 0 {
		a.limited(p.Tenant)
		f := abi.Faultf(abi.Unavailable, "too many requests").WithHint("retry later, with fewer concurrent requests")
		busy := problemOfFault(f, http.StatusTooManyRequests)
		busy.header.Set("Retry-After", seconds(wait))
		return p, busy
	}
	if permission != "" && !p.Allows(permission) {
		return p, abi.Faultf(abi.AccessDenied, "the role %q lacks the permission %q", p.Role, permission)
	}
	a.admitted(r.Context())
	return p, nil
}

// authProblem returns the problem for an authentication error. A 401 response closes the
// connection, so that clients without credentials do not occupy connections.
func authProblem(err error) error {
	r, ok := errors.AsType[auth.AuthError](err)
	if !ok {
		return err
	}
	p := problemOfFault(abi.FaultOf(err), r.Status())
	p.header = http.Header{"Www-Authenticate": {r.Challenge()}}
	if p.Status == http.StatusUnauthorized {
		p.header.Set("Connection", "close")
	}
	return p
}

func refuse(ctx huma.Context, err error) {
	p := problemOf(err)
	for name, values := range p.header {
		ctx.SetHeader(name, values[0])
	}
	ctx.SetHeader("Content-Type", p.ContentType(""))
	ctx.SetStatus(p.Status)
	writeJSON(ctx.BodyWriter(), p.Problem)
}

// open opens the app that a request selects. If the request does not select an app, open opens the
// only app that the sender may use.
func (a *Access) open(ctx context.Context, named string) (*call, error) {
	p, _ := ctx.Value(principalKey{}).(auth.Principal)
	app, err := a.appOf(p, named)
	if err != nil {
		return nil, err
	}
	h, release, err := a.apps.Host(ctx, p.Tenant, app)
	if err != nil {
		return nil, err
	}
	return &call{principal: p, app: app, host: h, release: release, userMetadata: a.userMetadata, runs: a.runs}, nil
}

func (a *Access) appOf(p auth.Principal, named string) (string, error) {
	mine := a.appsOf(p)
	if named == "" && len(mine) == 1 {
		return mine[0], nil
	}
	if named == "" && len(mine) == 0 {
		return "", abi.Faultf(abi.NotFound, "these credentials are not valid for any app")
	}
	if named == "" {
		return "", abi.Faultf(abi.InvalidArgument, "the credentials are valid for several apps, but the request does not select one").WithHint("add the query parameter `app` with the id of the app")
	}
	if !p.CanUseApp(named) {
		return "", abi.Faultf(abi.NotFound, "the app %q does not exist", named) // the same error as for an app that the principal is not allowed to use
	}
	return named, nil
}

// appsOf returns the apps that a principal may use.
func (a *Access) appsOf(p auth.Principal) []string {
	mine := []string{}
	for _, app := range a.apps.Names() {
		if p.CanUseApp(app) {
			mine = append(mine, app)
		}
	}
	return mine
}

// limiter limits the request rate of each principal.
type limiter struct {
	rate  rate.Limit
	burst int

	mu  sync.Mutex
	all map[identity]*rate.Limiter
}

// maxLimiters is the maximum number of principals with a limiter. When this number is exceeded, all
// limiters are reset.
const maxLimiters = 100_000

// wait returns the time that a principal must wait before it can send its next request. The result
// is 0 if the principal can send the request at once.
func (l *limiter) wait(p auth.Principal) time.Duration {
	if l.rate <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	who := identityOf(p)
	one := l.all[who]
	if one == nil {
		if l.all == nil || len(l.all) >= maxLimiters {
			l.all = map[identity]*rate.Limiter{}
		}
		one = rate.NewLimiter(l.rate, l.burst)
		l.all[who] = one
	}
	r := one.Reserve()
	wait := r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return wait
}

// identity is the key under which the requests and runs of a principal are counted.
type identity struct{ tenant, role, name, user string }

// Admitted is an admitted request that the handler of another protocol, such as MCP, may serve.
type Admitted struct {
	Principal auth.Principal
	// Caller is selected by the query parameters user_id, session_id, workflow_id and agent_id. The
	// credentials allow the request to act for this caller.
	Caller host.Caller
	// Host is the host of the app that the query parameter "app" selects. If the parameter is
	// missing, Host is the host of the only app that the sender may use. The handler must call
	// Release at the end of the request.
	Host    *host.Host
	Release func()
}

// Admit admits a request of another protocol, such as MCP, if the sender has the given permission.
// The rules are the same as for an operation of the API. The query may contain only the parameters
// "app", "user_id", "session_id", "workflow_id" and "agent_id". Other parameters are rejected,
// because a request with a misspelled "user_id" would act without a user.
func (a *Access) Admit(r *http.Request, permission auth.Permission) (Admitted, error) {
	p, err := a.admit(r, permission)
	if err != nil {
		return Admitted{}, err
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Admitted{}, abi.Faultf(abi.InvalidArgument, "the query string is malformed")
	}
	for name, values := range query {
		if !slices.Contains([]string{"app", "user_id", "session_id", "workflow_id", "agent_id"}, name) || len(values) > 1 {
			return Admitted{}, abi.Faultf(abi.InvalidArgument, "the query string has an unknown or duplicate parameter").
				WithHint("use only the parameters `app`, `user_id`, `session_id`, `workflow_id` and `agent_id`, at most once each")
		}
	}
	c, err := a.open(context.WithValue(r.Context(), principalKey{}, p), query.Get("app"))
	if err != nil {
		return Admitted{}, err
	}
	caller, err := c.callerIn(r.Context(), query.Get("user_id"), query.Get("session_id"), query.Get("workflow_id"))
	if err != nil {
		c.release()
		return Admitted{}, err
	}
	caller.Agent = query.Get("agent_id")
	return Admitted{p, caller, c.host, c.release}, nil
}

// WriteProblem writes the problem document for an error as the response.
func WriteProblem(w http.ResponseWriter, err error) {
	p := problemOf(err)
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	writeJSON(w, p.Problem)
}
