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

// maxSessions bounds the open MCP sessions of a user. Clients often disappear without closing; for
// one more session, the least recently used one is closed.
const maxSessions = 100

// DefaultSlots is the default bound on open MCP sessions.
const DefaultSlots = 10_000

// Options configure a Server. Host is required; the zero value of the other fields means their
// defaults.
type Options struct {
	// Host runs the app. The server does not close it.
	Host *host.Host
	// Version is the version of the program that clients see. Default: "unknown".
	Version string
	// Logger receives details that clients must not see. Default: discard.
	Logger *slog.Logger
	// Slots bounds the MCP sessions of all servers that share it, fairly by tenant and principal.
	// Default: separate slots, DefaultSlots of them.
	Slots *Slots
}

// Server serves the app of a host to MCP clients. It is safe for concurrent use.
type Server struct {
	host    *host.Host
	program *mcp.Implementation
	log     *slog.Logger
	tools   []*mcp.Tool
	slots   *Slots

	mu       sync.Mutex
	closed   bool  // no requests are accepted any more
	clock    int64 // counts uses of sessions, to find the least recently used one
	sessions map[string]*session
	open     sync.WaitGroup
}

// New returns a Server. It omits tools with invalid declarations, and tools whose schema MCP cannot
// express, which it logs.
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
	for _, tool := range opts.Host.App().Tools {
		if len(tool.Broken) > 0 {
			continue
		}
		offered := describe(tool)
		if err := offer(mcp.NewServer(s.program, nil), offered, nil); err != nil {
			s.log.Warn("a tool is not offered to clients of MCP", "tool", tool.Name, "error", err)
			continue
		}
		s.tools = append(s.tools, offered)
	}
	return s
}

// Close ends every MCP session: runs in progress are cancelled, and the memory sessions that the
// server started are ended. Later requests are rejected. Closing twice is fine.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	open := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, sess := range open {
		sess.stop() // stop all before closing, which waits
	}
	for _, sess := range open {
		sess.close()
	}
	s.open.Wait()
	return nil
}

// Shutdown ends every MCP session as soon as it is idle. Earlier requests are completed; later ones
// fail with the code unavailable. If ctx ends first, Shutdown calls [Server.Close] and returns the
// error of ctx.
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

// refuse makes the server reject new requests, and returns the idle sessions.
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

// Has reports whether an HTTP session with this id and caller is open.
func (s *Server) Has(id string, caller host.Caller) bool {
	caller.Tenant = cmp.Or(caller.Tenant, host.DefaultTenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owned(id, caller) != nil
}

// newSession returns an MCP session for a caller. It begins with the client's first request.
func (s *Server) newSession(owner host.Caller) *session {
	sess := &session{api: s, id: rand.Text(), owner: owner, caller: owner, closing: make(chan struct{})}
	sess.server = mcp.NewServer(s.program, &mcp.ServerOptions{
		GetSessionID: func() string { return sess.id },
		SetCacheable: privateCache,
		Capabilities: capabilities(),
	})
	sess.server.AddReceivingMiddleware(sess.ensureSession)
	for _, tool := range s.tools {
		_ = offer(sess.server, tool, sess.call) // New has verified it
	}
	sess.addResources()
	sess.addPrompts()
	return sess
}

// register registers a session that begins, and removes it when it ends.
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
		oldest.leaving = true // later requests do not find it
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

var errClosing = abi.Faultf(abi.Unavailable, "the server is closing").WithHint("begin a new MCP session in a moment")

// countKey returns the caller by which sessions are counted. A user may name any memory session, so
// the session is ignored. A caller without a user holds an API key, and has one visitor per
// session.
func countKey(owner host.Caller) host.Caller {
	if owner.User != "" {
		owner.Session = ""
	}
	return owner
}

// oldest returns the session to close so that the user can open another one, or nil if that is not
// necessary.
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

// owned returns the open session with an id, if it belongs to the caller. The caller of owned holds
// mu.
func (s *Server) owned(id string, owner host.Caller) *session {
	if sess := s.sessions[id]; sess != nil && sess.owner == owner && !sess.leaving {
		return sess
	}
	return nil
}

// find returns the open session with an id, if it belongs to the caller, and marks it as busy. Call
// leave when done.
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
