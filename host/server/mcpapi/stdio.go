package mcpapi

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
)

// ServeStdio serves one client for a caller over a pair of streams, usually stdin and stdout. Each
// line contains one JSON message. No other code may write to the argument "out". ServeStdio returns
// nil when the input has ended and all requests have been answered. If ctx ends, ServeStdio cancels
// the runs in progress and also returns nil. ServeStdio responds to an invalid line with a JSON-RPC
// error. A pending read of the input may continue after ServeStdio returns.
func (s *Server) ServeStdio(ctx context.Context, caller host.Caller, in io.Reader, out io.Writer) error {
	sess := s.newSession(caller)
	defer sess.end()
	defer context.AfterFunc(ctx, sess.stop)()
	err := sess.server.Run(ctx, draining{lineTransport{in, out}, sess})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return abi.Faultf(abi.InvalidArgument, "the connection to the client failed: %v", err)
}

// draining is a transport that reports the end of its input only after all requests are answered.
// When the input ends, the SDK cancels the requests that are still in progress. Without draining,
// the SDK would cancel the requests of a script that pipes its requests into the server.
type draining struct {
	mcp.Transport
	session *session
}

// Connect connects the transport.
func (d draining) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{
		Connection: conn, session: d.session, requested: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), closed: make(chan struct{}),
	}, nil
}

type drainingConn struct {
	mcp.Connection
	session   *session // stays busy until all requests are answered
	mu        sync.Mutex
	requested map[jsonrpc.ID]bool
	answered  chan struct{} // signals a response
	closed    chan struct{}
	closeOnce sync.Once
}

// Read reads the next message. At the end of the input, Read waits until all responses have been
// sent.
func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.mu.Lock()
		if !c.requested[request.ID] {
			c.requested[request.ID] = true
			c.session.hold()
		}
		c.mu.Unlock()
	}
	if !errors.Is(err, io.EOF) {
		return message, err
	}
	for c.waiting() {
		select {
		case <-c.answered:
		case <-c.closed:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, err
}

func (c *drainingConn) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requested) > 0
}

// Write writes a message.
func (c *drainingConn) Write(ctx context.Context, message jsonrpc.Message) error {
	response, ok := message.(*jsonrpc.Response)
	if ok {
		response = withCode(response)
		message = response
	}
	err := c.Connection.Write(ctx, message)
	if !ok {
		return err
	}
	c.mu.Lock()
	if c.requested[response.ID] {
		delete(c.requested, response.ID)
		c.session.leave()
	}
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
	return err
}

// withCode adds a code to an error that the SDK returns without a code. For example, the SDK
// returns such an error for a request before initialize.
func withCode(r *jsonrpc.Response) *jsonrpc.Response {
	if failed, ok := errors.AsType[*jsonrpc.Error](r.Error); r.Error == nil || ok && failed.Code != 0 {
		return r
	}
	with := *r
	with.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: r.Error.Error()}
	return &with
}

// Close closes the connection.
func (c *drainingConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
