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

// connectors serve MCP for each host that clients of MCP use.
type connectors struct {
	options Options
	api     *httpapi.Server

	// slots bounds the MCP sessions of all hosts together.
	slots *mcpapi.Slots

	mu     sync.Mutex
	closed bool
	byHost map[*host.Host]*connector
	// leaving are those of replaced hosts, whose calls under way go on.
	leaving map[*connector]bool
}

// connector is the MCP server of a host, with the lease on that host.
type connector struct {
	app    string
	server *mcpapi.Server
	// handler is one for all requests: MCP sessions live in it.
	handler http.Handler
	release func()
	// busy counts the requests that it has, under the lock of the connectors.
	busy int
}

// callerKey is where a request carries for whom it acts to the handler.
type callerKey struct{}

func callerOf(r *http.Request) (host.Caller, error) {
	caller, ok := r.Context().Value(callerKey{}).(host.Caller)
	if !ok {
		return caller, abi.Faultf(abi.AccessDenied, "the request was not admitted") // never: ServeHTTP says for whom it acts
	}
	return caller, nil
}

func newConnectors(opts Options, api *httpapi.Server) *connectors {
	return &connectors{
		options: opts, api: api, slots: mcpapi.NewSlots(mcpapi.DefaultSlots),
		byHost: map[*host.Host]*connector{}, leaving: map[*connector]bool{},
	}
}

// sessionHeader names the MCP session of a request.
const sessionHeader = "Mcp-Session-Id"

// ServeHTTP answers a request of an MCP client.
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
	ctx, done := c.api.Access().WithValidCredentials(r.Context(), r) // streams of MCP are as long as their sessions
	defer done()
	defer c.done(one)
	one.handler.ServeHTTP(w, r.WithContext(context.WithValue(ctx, callerKey{}, admitted.Caller)))
}

// left returns the connector that has a session of a replaced host still, nil where there is none. Its client can cancel
// what it waits for.
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

// done ends a request of a connector.
func (c *connectors) done(one *connector) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.busy--
}

// rest lets go of the host of a connector that has neither sessions nor requests.
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

// Rest lets go of a host that nobody asked for as long, where no client of MCP has a session there.
func (s *Service) Rest(h *host.Host) { s.mcp.rest(h) }

// of returns the connector of a host. It takes over the lease, whatever it returns.
func (c *connectors) of(ctx context.Context, a httpapi.Admitted) (*connector, error) {
	for {
		one, made, err := c.get(a)
		if err != nil || !made {
			a.Release()
			return one, err
		}
		// The host may have been retired since the request was admitted, and nobody would say so again. One that is in use
		// now will be retired later than this.
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

// get returns the connector of a host, which takes over the lease where it is made.
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

// Retire ends the MCP sessions of a host that is replaced: clients begin anew, with the new one. It returns when the
// calls under way in them are answered; the host is kept open until then.
func (s *Service) Retire(h *host.Host) {
	if one := s.mcp.leave(h); one != nil {
		s.mcp.end(context.Background(), one) // runs have a timeout, and close ends those that are left
	}
}

// leave has the connector of a host get no new sessions, and returns it, or nil.
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

// end ends a connector that is leaving.
func (c *connectors) end(ctx context.Context, one *connector) {
	_ = one.server.Shutdown(ctx) // all has ended, one way or the other
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving[one] { // two may wait for its end
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
