package service

import (
	"context"
	"net/http"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/access"
	"github.com/toolrun/toolrun/host/httpapi"
	"github.com/toolrun/toolrun/host/mcpapi"
)

// connectors serve MCP for each host that clients of MCP use.
type connectors struct {
	options Options
	api     *httpapi.Server

	mu     sync.Mutex
	closed bool
	byHost map[*host.Host]*connector
}

// connector is the MCP server of a host, with the lease on that host.
type connector struct {
	server *mcpapi.Server
	// handler is one for all requests: MCP sessions live in it.
	handler http.Handler
	release func()
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
	return &connectors{options: opts, api: api, byHost: map[*host.Host]*connector{}}
}

// ServeHTTP answers a request of an MCP client.
func (c *connectors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	admitted, err := c.api.Admit(r, access.Run)
	if err != nil {
		httpapi.WriteProblem(w, err)
		return
	}
	one, err := c.of(admitted)
	if err != nil {
		admitted.Release()
		httpapi.WriteProblem(w, err)
		return
	}
	one.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, admitted.Caller)))
}

// of returns the connector of a host, which takes over the lease where there is none yet.
func (c *connectors) of(a httpapi.Admitted) (*connector, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errStopping
	}
	if one := c.byHost[a.Host]; one != nil {
		a.Release()
		return one, nil
	}
	server := mcpapi.New(mcpapi.Options{Host: a.Host, Version: c.options.Version, Logger: c.options.Logger})
	one := &connector{server, server.Handler(callerOf), a.Release}
	c.byHost[a.Host] = one
	return one, nil
}

// Retire ends the MCP sessions of a host that is replaced: clients begin anew, with the new one.
func (s *Service) Retire(h *host.Host) {
	s.mcp.mu.Lock()
	one := s.mcp.byHost[h]
	delete(s.mcp.byHost, h)
	s.mcp.mu.Unlock()
	one.close()
}

func (o *connector) close() {
	if o == nil {
		return
	}
	_ = o.server.Close() // always nil
	o.release()
}

func (c *connectors) close() {
	c.mu.Lock()
	c.closed = true
	all := c.byHost
	c.byHost = map[*host.Host]*connector{}
	c.mu.Unlock()
	for _, one := range all {
		one.close()
	}
}
