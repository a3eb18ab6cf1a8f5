package mcpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// maxSessions is the maximum number of open MCP sessions of a user. Clients often disappear without
// closing their session. If a user with maxSessions sessions begins another session, the least
// recently used session is closed.
const maxSessions = 100

// DefaultSlots is the default maximum number of open MCP sessions.
const DefaultSlots = 10_000

// Options configure a Server. Host is required. All other fields have defaults.
type Options struct {
	// Host runs the app. The server does not close the host.
	Host *host.Host
	// Version is the program version that clients receive. Default: "unknown".
	Version string
	// Logger receives details that clients must not see. Default: they are discarded.
	Logger *slog.Logger
	// Slots limits the total number of MCP sessions of all servers that use the same Slots. Slots
	// is fair to tenants and principals. Default: a new Slots with DefaultSlots slots.
	Slots *Slots
}

// Server serves the app of a host to MCP clients. Server is safe for concurrent use.
type Server struct {
	host    *host.Host
	program *mcp.Implementation
	log     *slog.Logger
	tools   []*mcp.Tool
	agents  []offeredAgent
	memory  []offeredMemory
	slots   *Slots

	mu       sync.Mutex
	closed   bool  // the server rejects new requests
	clock    int64 // counts session uses, to find the least recently used session
	sessions map[string]*session
	open     sync.WaitGroup
}

// New returns a Server. New offers tools and agents. New omits tools with invalid declarations. New
// also omits and logs all tools whose schema MCP cannot express.
func New(opts Options) *Server {
	if opts.Version == "" {
		opts.Version = "unknown"
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Slots == nil {
		opts.Slots = NewSlots(DefaultSlots)
	}
	s := &Server{
		host: opts.Host, log: opts.Logger, slots: opts.Slots, sessions: map[string]*session{},
		program: &mcp.Implementation{Name: "toolrun", Title: opts.Host.App().ID, Version: opts.Version},
	}
	s.describe()
	return s
}

// describe creates the lists of tools and agents, and the list of tools for blocks and collections.
func (s *Server) describe() {
	var names []string
	for _, tool := range s.host.App().Tools {
		names = append(names, tool.Name)
		if len(tool.Broken) > 0 {
			continue
		}
		if offered := describe(tool); s.expressible(offered) {
			s.tools = append(s.tools, offered)
		}
	}
	for _, a := range s.host.Agents().List() {
		offered := describeAgent(a, names)
		if slices.Contains(names, offered.tool.Name) {
			s.log.Warn("an agent is hidden from MCP clients, because a tool has the same name", "agent", a.Name)
			continue
		}
		if s.expressible(offered.tool) {
			s.agents = append(s.agents, offered)
			names = append(names, offered.tool.Name)
		}
	}
	s.describeMemory(names)
	s.describeCollections(names)
}

// expressible reports whether MCP can express a tool. If MCP cannot express the tool, expressible
// logs the reason.
func (s *Server) expressible(tool *mcp.Tool) bool {
	err := offer(mcp.NewServer(s.program, nil), tool, nil)
	if err != nil {
		s.log.Warn("a tool is hidden from MCP clients", "tool", tool.Name, "error", err)
	}
	return err == nil
}

// Close ends all MCP sessions. Close cancels the runs in progress and ends the memory sessions that
// the server started. Requests that arrive after the call of Close are rejected. Close may be
// called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	open := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, sess := range open {
		sess.stop() // stop all sessions first, because close waits
	}
	for _, sess := range open {
		sess.close()
	}
	s.open.Wait()
	return nil
}

// Shutdown ends each MCP session as soon as the session is idle. Requests in progress are
// completed. New requests fail with the code unavailable. If ctx ends before all MCP sessions have
// ended, Shutdown calls [Server.Close] and returns the error of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, sess := range s.refuse() {
		go sess.close()
	}
	ended := make(chan struct{})
	go func() {
		s.open.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		_ = s.Close() // always nil
		return ctx.Err()
	}
}

// refuse makes the server reject new requests. refuse returns the idle sessions.
func (s *Server) refuse() (idle []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, sess := range s.sessions {
		if sess.busy == 0 && !sess.leaving {
			sess.leaving = true
			idle = append(idle, sess)
		}
	}
	return idle
}

// Sessions returns the number of open MCP sessions.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Has reports whether an HTTP session with the given id and caller is open.
func (s *Server) Has(id string, caller host.Caller) bool {
	caller.Tenant = cmp.Or(caller.Tenant, host.DefaultTenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owned(id, caller) != nil
}

// newSession returns an MCP session for a caller. The session begins with the client's first
// request.
func (s *Server) newSession(owner host.Caller) *session {
	sess := &session{api: s, id: rand.Text(), owner: owner, caller: owner, closing: make(chan struct{})}
	sess.server = mcp.NewServer(s.program, &mcp.ServerOptions{
		GetSessionID: func() string { return sess.id },
		SetCacheable: privateCache,
		Capabilities: capabilities(),
	})
	sess.server.AddReceivingMiddleware(sess.ensureSession)
	for _, tool := range s.tools {
		_ = offer(sess.server, tool, sess.call) // New has checked these arguments
	}
	for _, a := range s.agents {
		_ = offer(sess.server, a.tool, sess.talk(a.agent))
	}
	sess.addMemory()
	sess.addResources()
	sess.addPrompts()
	return sess
}

// register registers a session that begins. register removes the session when it ends.
func (s *Server) register(sess *session, link *mcp.ServerSession) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosing
	}
	slot, err := s.slots.take(sess.owner, func() { go sess.close() })
	if err != nil {
		return err
	}
	sess.slot = slot
	if oldest := s.oldest(sess.owner); oldest != nil {
		oldest.leaving = true // later requests do not find the session
		go oldest.close()
	}
	s.clock++
	sess.used = s.clock
	s.sessions[sess.id] = sess
	s.open.Go(func() {
		_ = link.Wait() // for any reason
		sess.end()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, sess.id)
		slot.free()
	})
	return nil
}

var errClosing = abi.Faultf(abi.Unavailable, "the server is closing").WithHint("start a new MCP session in a moment")

// countKey returns the caller under which sessions are counted. countKey omits the agent of the
// caller. If the caller has a user, countKey also omits the memory session. A client can use any
// number of agents and memory sessions, so they must not count as separate callers. For a caller
// without a user, which has an API key, each memory session counts as a separate caller.
func countKey(owner host.Caller) host.Caller {
	if owner.User != "" {
		owner.Session = ""
	}
	owner.Agent = ""
	return owner
}

// oldest returns the session that must be closed before the caller can open another session. oldest
// returns nil if no session must be closed.
func (s *Server) oldest(owner host.Caller) *session {
	var oldest *session
	count := 0
	for _, sess := range s.sessions {
		if sess.leaving || countKey(sess.owner) != countKey(owner) {
			continue
		}
		count++
		if oldest == nil || sess.used < oldest.used {
			oldest = sess
		}
	}
	if count < maxSessions {
		return nil
	}
	return oldest
}

// owned returns the open session with the given id if the session belongs to the caller. The
// function that calls owned must hold mu.
func (s *Server) owned(id string, owner host.Caller) *session {
	if sess := s.sessions[id]; sess != nil && sess.owner == owner && !sess.leaving {
		return sess
	}
	return nil
}

// find returns the open session with the given id if the session belongs to the caller, and marks
// the session as busy. Call the method "leave" when the request is done.
func (s *Server) find(id string, owner host.Caller) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.owned(id, owner)
	if sess == nil {
		return nil
	}
	s.clock++
	sess.used = s.clock
	if sess.slot != nil {
		sess.slot.use()
	}
	sess.busy++
	return sess
}
