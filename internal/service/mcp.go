package service

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/mcpapi"
)

// connectors contains one connector for each host that MCP clients use.
type connectors struct {
	options Options
	api     *httpapi.Server

	// slots limits the total number of MCP sessions of all hosts.
	slots *mcpapi.Slots

	mu     sync.Mutex
	closed bool
	byHost map[*host.Host]*connector
	// leaving contains the connectors of replaced hosts. Running calls of the replaced hosts
	// continue.
	leaving map[*connector]bool
}

// connector is the MCP server of a host, with a lease on the host.
type connector struct {
	app    string
	server *mcpapi.Server
	// handler serves all requests. Each host has only one handler, because the handler contains the
	// MCP sessions.
	handler http.Handler
	release func()
	// busy is the number of current requests. The lock of connectors protects busy.
	busy int
}

// callerKey is the context key for the caller of a request.
type callerKey struct{}

func callerOf(r *http.Request) (host.Caller, error) {
	caller, ok := r.Context().Value(callerKey{}).(host.Caller)
	if !ok {
		return caller, abi.Faultf(abi.AccessDenied, "the request was not admitted") // never happens: ServeHTTP sets the caller
	}
	return caller, nil
}

func newConnectors(opts Options, api *httpapi.Server) *connectors {
	return &connectors{
		options: opts, api: api, slots: mcpapi.NewSlots(mcpapi.DefaultSlots),
		byHost: map[*host.Host]*connector{}, leaving: map[*connector]bool{},
	}
}

// sessionHeader is the header with the id of the MCP session.
const sessionHeader = "Mcp-Session-Id"

// ServeHTTP handles a request of an MCP client.
func (c *connectors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	admitted, err := c.api.Access().Admit(r, auth.Run)
	if err != nil {
		httpapi.WriteProblem(w, err)
		return
	}
	if r.Method == http.MethodPost {
		release, err := c.api.Access().ReadBody(w, r, admitted.Principal)
		if err != nil {
			admitted.Release()
			httpapi.WriteProblem(w, err)
			return
		}
		defer release()
	}
	one := c.left(r.Header.Get(sessionHeader), admitted)
	if one == nil {
		one, err = c.of(r.Context(), admitted)
	}
	if err != nil {
		httpapi.WriteProblem(w, err)
		return
	}
	ctx, done := c.api.Access().WithValidCredentials(r.Context(), r) // MCP streams last as long as their sessions
	defer done()
	defer c.done(one)
	one.handler.ServeHTTP(w, r.WithContext(context.WithValue(ctx, callerKey{}, admitted.Caller)))
}

// left returns the connector of a replaced host that still has the given session, or nil if no
// such connector exists. While the connector exists, the client of the session can still cancel
// calls.
func (c *connectors) left(session string, a httpapi.Admitted) *connector {
	if session == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.leaving {
		if one.app == a.Host.App().ID && one.server.Has(session, a.Caller) {
			a.Release()
			one.busy++
			return one
		}
	}
	return nil
}

// done records the end of a request to a connector.
func (c *connectors) done(one *connector) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.busy--
}

// The method "rest" releases the host of a connector that has no sessions and no requests.
func (c *connectors) rest(h *host.Host) {
	c.mu.Lock()
	one := c.byHost[h]
	if one == nil || one.busy > 0 || one.server.Sessions() > 0 {
		c.mu.Unlock()
		return
	}
	delete(c.byHost, h)
	c.leaving[one] = true
	c.mu.Unlock()
	c.end(context.Background(), one)
}

// Rest releases a host that was unused for some time, unless an MCP client has a session on it.
func (s *Service) Rest(h *host.Host) { s.mcp.rest(h) }

// The method "of" returns the connector of a host. The method "of" always takes over the lease of
// an admitted request.
func (c *connectors) of(ctx context.Context, a httpapi.Admitted) (*connector, error) {
	for {
		one, made, err := c.get(a)
		if err != nil || !made {
			a.Release()
			return one, err
		}
		// The host may have been retired after the request was admitted. No later call to Retire
		// would then release it. If the host is still in use, a later call to Retire will release
		// it.
		inUse, release, err := c.options.Apps.Host(context.WithoutCancel(ctx), a.Caller.Tenant, one.app)
		if err == nil && inUse == a.Host {
			release()
			return one, nil
		}
		c.leave(a.Host)
		go c.end(context.Background(), one)
		if err != nil {
			return nil, err
		}
		a.Host, a.Release = inUse, release
	}
}

// get returns the connector of a host. A new connector takes over the lease of the request.
func (c *connectors) get(a httpapi.Admitted) (one *connector, made bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false, errStopping
	}
	if one := c.byHost[a.Host]; one != nil {
		one.busy++
		return one, false, nil
	}
	server := mcpapi.New(mcpapi.Options{Host: a.Host, Version: c.options.Version, Logger: c.options.Logger, Slots: c.slots})
	one = &connector{a.Host.App().ID, server, server.Handler(callerOf), a.Release, 1}
	c.byHost[a.Host] = one
	return one, true, nil
}

// Retire ends the MCP sessions of a replaced host. Clients then start new sessions on the host that
// replaces it. Retire returns when the running calls have ended, and the host remains open until
// then.
func (s *Service) Retire(h *host.Host) {
	if one := s.mcp.leave(h); one != nil {
		s.mcp.end(context.Background(), one) // runs have a timeout, and close ends the runs that remain
	}
}

// leave prevents new sessions on the connector of a host. leave returns the connector, or nil if
// the host has no connector.
func (c *connectors) leave(h *host.Host) *connector {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.byHost[h]
	if one != nil {
		delete(c.byHost, h)
		c.leaving[one] = true
	}
	return one
}

// end shuts down a connector that is leaving.
func (c *connectors) end(ctx context.Context, one *connector) {
	_ = one.server.Shutdown(ctx) // after an error, the sessions were cancelled
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving[one] { // two goroutines may wait for the end of the connector
		delete(c.leaving, one)
		one.release()
	}
}

func (c *connectors) close(ctx context.Context) {
	c.mu.Lock()
	c.closed = true
	for _, one := range c.byHost {
		c.leaving[one] = true
	}
	clear(c.byHost)
	all := slices.Collect(maps.Keys(c.leaving))
	c.mu.Unlock()
	var ended sync.WaitGroup
	for _, one := range all {
		ended.Go(func() { c.end(ctx, one) })
	}
	ended.Wait()
}
