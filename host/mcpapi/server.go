package mcpapi

import (
	"crypto/rand"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// maxSessions is how many MCP sessions a caller may have open. Clients often leave without a word; with one more, the
// one that was used least lately is closed.
const maxSessions = 100

// Options are what a Server is made of. Host is required; other zero fields mean the defaults that their comments name.
type Options struct {
	// Host runs the app. The server does not close it.
	Host *host.Host
	// Version is what clients are told of the program. Default: "unknown".
	Version string
	// Logger gets what no client may see. Default: discard.
	Logger *slog.Logger
}

// Server offers the app of a host to clients of MCP. It is safe for concurrent use.
type Server struct {
	host    *host.Host
	program *mcp.Implementation
	log     *slog.Logger
	tools   []*mcp.Tool

	mu       sync.Mutex
	closed   bool
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
	s := &Server{
		host: opts.Host, log: opts.Logger, sessions: map[string]*session{},
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
	var open []*session
	for _, one := range s.sessions {
		open = append(open, one)
	}
	s.mu.Unlock()
	for _, one := range open {
		one.close()
	}
	s.open.Wait()
	return nil
}

// newSession makes an MCP session for a caller, which begins with the client's first request.
func (s *Server) newSession(owner host.Caller) *session {
	one := &session{api: s, id: rand.Text(), owner: owner, caller: owner, closing: make(chan struct{})}
	one.server = mcp.NewServer(s.program, &mcp.ServerOptions{
		GetSessionID: func() string { return one.id },
		SetCacheable: private,
		Capabilities: capabilities(),
	})
	one.server.AddReceivingMiddleware(one.beginning)
	for _, tool := range s.tools {
		_ = offer(one.server, tool, one.call) // New has tried it
	}
	one.addResources()
	one.addPrompts()
	return one
}

// keep remembers a session that begins, and sees to its end.
func (s *Server) keep(one *session, link *mcp.ServerSession) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return abi.Faultf(abi.Unavailable, "the server is closing")
	}
	if oldest := s.oldest(one.owner); oldest != nil {
		go oldest.close()
	}
	s.clock++
	one.used = s.clock
	s.sessions[one.id] = one
	s.open.Go(func() {
		_ = link.Wait() // however it ends
		one.end()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, one.id)
	})
	return nil
}

// oldest is the session that makes room for another one of the caller's, nil where there is room.
func (s *Server) oldest(owner host.Caller) *session {
	var oldest *session
	count := 0
	for _, one := range s.sessions {
		if one.owner != owner {
			continue
		}
		count++
		if oldest == nil || one.used < oldest.used {
			oldest = one
		}
	}
	if count < maxSessions {
		return nil
	}
	return oldest
}

// find returns the open session with an id, if it is the caller's.
func (s *Server) find(id string, owner host.Caller) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.sessions[id]
	if one == nil || one.owner != owner {
		return nil
	}
	s.clock++
	one.used = s.clock
	return one
}
