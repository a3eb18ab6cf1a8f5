package service

import (
	"net/http"
	"sync"

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
	server  *mcpapi.Server
	release func()
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
	one.server.Handler(func(*http.Request) (host.Caller, error) { return admitted.Caller, nil }).ServeHTTP(w, r)
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
	one := &connector{mcpapi.New(mcpapi.Options{Host: a.Host, Version: c.options.Version, Logger: c.options.Logger}), a.Release}
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
