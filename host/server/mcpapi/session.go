package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	hostsession "github.com/toolrun/toolrun/host/session"
)

// endTimeout is the maximum time for ending a memory session after the client has disconnected.
const endTimeout = 10 * time.Second

// session is an MCP session. The client of a session acts for one caller.
type session struct {
	api    *Server
	id     string // id in the transport
	owner  host.Caller
	server *mcp.Server

	// api.mu guards the following fields.
	slot    *slot // nil before the session begins
	used    int64
	busy    int  // requests in progress
	leaving bool // the session is being closed, because it is idle

	closing  chan struct{} // closed to cancel the runs of the session
	stopOnce sync.Once

	mu     sync.Mutex
	link   *mcp.ServerSession // nil before the session begins
	caller host.Caller        // owner, with the id of the memory session
	made   bool               // true if this MCP session has started the memory session
	ended  bool
}

// ensureSession is middleware that starts the memory session before the first request that can use
// it.
func (s *session) ensureSession(next mcp.MethodHandler) mcp.MethodHandler {
	uses := []string{"initialize", "tools/call", "resources/read", "prompts/get"}
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, req)
		}
		if err := s.enter(); err != nil { // a run may outlast its HTTP request
			return nil, protocolError(err)
		}
		defer s.leave()
		if link, ok := req.GetSession().(*mcp.ServerSession); ok && slices.Contains(uses, method) {
			if err := s.begin(ctx, link); err != nil {
				return nil, protocolError(err)
			}
		}
		result, err := next(ctx, method, req)
		return result, s.withResourceCode(method, req, err)
	}
}

// codeNoResource is the error code for an unknown resource in the protocol versions up to
// 2025-11-25. Later versions use the code for invalid parameters, which the SDK returns for all
// versions.
const codeNoResource = -32002

// withResourceCode replaces the code of an error about an unknown resource with the code that the
// protocol version of the session requires.
func (s *session) withResourceCode(method string, req mcp.Request, err error) error {
	failed, ok := errors.AsType[*jsonrpc.Error](err)
	if method != "resources/read" || !ok || failed.Code != jsonrpc.CodeInvalidParams {
		return err
	}
	link, ok := req.GetSession().(*mcp.ServerSession)
	if !ok || link.InitializeParams() == nil || link.InitializeParams().ProtocolVersion >= "2026" {
		return err
	}
	with := *failed
	with.Code = codeNoResource
	return &with
}

// enter counts a new request of the session. enter fails if the server is closing.
func (s *session) enter() error {
	s.api.mu.Lock()
	defer s.api.mu.Unlock()
	if s.api.closed {
		return errClosing
	}
	s.busy++
	return nil
}

// hold counts a new request of the session, even if the server is closing.
func (s *session) hold() {
	s.api.mu.Lock()
	defer s.api.mu.Unlock()
	s.busy++
}

// leave marks a request of the session as done. If the server is closing, leave closes the session
// after the last request.
func (s *session) leave() {
	s.api.mu.Lock()
	defer s.api.mu.Unlock()
	s.busy--
	if s.api.closed && s.busy == 0 && !s.leaving {
		s.leaving = true
		go s.close() // in a goroutine, because close waits for the current request
	}
}

func (s *session) begin(ctx context.Context, link *mcp.ServerSession) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return abi.Faultf(abi.SessionEnded, "the MCP session has been closed")
	}
	if s.link == nil {
		if err := s.api.register(s, link); err != nil {
			return err
		}
		s.link = link
	}
	if s.owner.Session != "" || s.memorySessionOpen(ctx) {
		return nil
	}
	started, err := s.api.host.Sessions().Start(ctx, s.owner, hostsession.Start{})
	if err != nil {
		return err
	}
	s.caller.Session, s.made = started.ID, true
	return nil
}

// memorySessionOpen reports whether the memory session that this MCP session started is still open.
// A memory session may expire while the client is idle. If the memory session has expired, the next
// request starts a new memory session.
func (s *session) memorySessionOpen(ctx context.Context) bool {
	if !s.made {
		return false
	}
	found, err := s.api.host.Sessions().Get(ctx, s.caller)
	if err != nil {
		return !errors.Is(err, abi.NotFound) && !errors.Is(err, abi.SessionEnded)
	}
	return found.Ended == nil
}

// The method current returns the Caller for which a request acts.
func (s *session) current() host.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caller
}

// until returns a context that ends when ctx ends or when the session is closed.
func (s *session) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// stop cancels the runs of the session.
func (s *session) stop() {
	s.stopOnce.Do(func() { close(s.closing) })
}

// close closes the connection to the client.
func (s *session) close() {
	s.stop()
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil {
		_ = link.Close() // the client may have disconnected
	}
}

// end ends the memory session if this MCP session has started it.
func (s *session) end() {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	if !s.made {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if _, err := s.api.host.Sessions().End(ctx, s.caller); err != nil {
		s.api.log.Warn("cannot end the memory session of a disconnected client", "session", s.caller.Session, "error", err)
	}
}

// faultOf returns the fault that the client receives for an error.
func faultOf(err error) *abi.Fault {
	if _, ok := errors.AsType[*abi.Fault](err); !ok && errors.Is(err, context.Canceled) {
		return abi.Faultf(abi.Cancelled, "the request was canceled")
	}
	return abi.FaultOf(err)
}

// protocolError returns a JSON-RPC error with the fault as its data.
func protocolError(err error) error {
	fault := faultOf(err)
	data, _ := json.Marshal(fault) // cannot fail, because a fault contains only strings and numbers
	code := int64(jsonrpc.CodeInternalError)
	if errors.Is(fault, abi.NotFound) {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: fault.Error(), Data: data}
}

// privateCache marks responses as private, so that shared caches do not store them.
func privateCache(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }
