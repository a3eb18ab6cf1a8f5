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

// maxSessions is how many MCP sessions a user may have open. Clients often leave without a word; with one more, the one
// that was used least lately is closed.
const maxSessions = 100

// DefaultSlots is how many MCP sessions may be open where nothing else is said.
const DefaultSlots = 10_000

// Options are what a Server is made of. Host is required; other zero fields mean the defaults that their comments name.
type Options struct {
	// Host runs the app. The server does not close it.
	Host *host.Host
	// Version is what clients are told of the program. Default: "unknown".
	Version string
	// Logger gets what no client may see. Default: discard.
	Logger *slog.Logger
	// Slots bounds the MCP sessions of all servers that share it, fairly by tenant and principal. Default: one of its own,
	// for DefaultSlots sessions.
	Slots *Slots
}

// Server offers the app of a host to clients of MCP. It is safe for concurrent use.
type Server struct {
	host    *host.Host
	program *mcp.Implementation
	log     *slog.Logger
	tools   []*mcp.Tool
	slots   *Slots

	mu       sync.Mutex
	closed   bool  // nothing begins any more
	clock    int64 // counts uses of sessions, to tell the one used least lately
	sessions map[string]*session
	open     sync.WaitGroup
}

// New makes a Server. A tool that is declared with mistakes is not offered, nor is one whose schema MCP cannot express,
// which is logged.
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

// Close ends every MCP session: runs under way are cancelled, and the sessions of memory that were started for them are
// ended. Later ones are refused. Closing twice is fine.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	open := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, sess := range open {
		sess.stop() // all at once, for closing waits
	}
	for _, sess := range open {
		sess.close()
	}
	s.open.Wait()
	return nil
}

// Shutdown ends every MCP session as soon as it is idle. What a client asked before is answered; what it asks later is
// refused with the code unavailable. When ctx ends first, Shutdown does what [Server.Close] does and returns the error of
// ctx.
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

// refuse lets nothing begin any more, and returns the sessions that are idle.
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

// Sessions returns how many MCP sessions are open.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Has reports whether a session over HTTP is open that has this id and this caller.
func (s *Server) Has(id string, caller host.Caller) bool {
	caller.Tenant = cmp.Or(caller.Tenant, host.DefaultTenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owned(id, caller) != nil
}

// newSession makes an MCP session for a caller, which begins with the client's first request.
func (s *Server) newSession(owner host.Caller) *session {
	sess := &session{api: s, id: rand.Text(), owner: owner, caller: owner, closing: make(chan struct{})}
	sess.server = mcp.NewServer(s.program, &mcp.ServerOptions{
		GetSessionID: func() string { return sess.id },
		SetCacheable: privateCache,
		Capabilities: capabilities(),
	})
	sess.server.AddReceivingMiddleware(sess.ensureSession)
	for _, tool := range s.tools {
		_ = offer(sess.server, tool, sess.call) // New has tried it
	}
	sess.addResources()
	sess.addPrompts()
	return sess
}

// keep remembers a session that begins, and sees to its end.
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
		oldest.leaving = true // what is asked there from now on finds no session
		go oldest.close()
	}
	s.clock++
	sess.used = s.clock
	s.sessions[sess.id] = sess
	s.open.Go(func() {
		_ = link.Wait() // however it ends
		sess.end()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, sess.id)
		slot.free()
	})
	return nil
}

var errClosing = abi.Faultf(abi.Unavailable, "the server is closing").WithHint("begin a new MCP session in a moment")

// counted is whose sessions are counted together. A user may name any session of memory, so it makes no difference; who
// acts for nobody holds a key, and has a visitor in each.
func countKey(owner host.Caller) host.Caller {
	if owner.User != "" {
		owner.Session = ""
	}
	return owner
}

// oldest is the session that makes room for another one of the user's, nil where there is room.
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

// owned is the open session with an id, if it is the caller's. The caller holds mu.
func (s *Server) owned(id string, owner host.Caller) *session {
	if sess := s.sessions[id]; sess != nil && sess.owner == owner && !sess.leaving {
		return sess
	}
	return nil
}

// find returns the open session with an id, if it is the caller's. It is busy then, until it is told otherwise.
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
