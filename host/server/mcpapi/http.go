package mcpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
)

// sessionHeader names the MCP session of a request.
const sessionHeader = "Mcp-Session-Id"

// mostIdle is how long a session may idle. A client that is gone says nothing, and costs memory meanwhile; one that is
// not begins another session.
const maxIdle = time.Hour

// Handler serves MCP over streamable HTTP at whatever path it is mounted. Caller authenticates a request and says whom
// it acts for; its error, best an *abi.Fault, refuses the request with status 403, or with 401 where the code is no_user.
//
// A session belongs to the caller that began it, tenant, user and session alike: another one's request that names it is
// answered as if there were no such session. It is closed by the client, when nothing was asked for an hour, or for as
// long as the app lets a session idle where that is shorter, and when its user opens too many others.
//
// Errors of HTTP are problem documents (RFC 9457). A JSON-RPC batch is refused: one request would be as many runs as fit into it, and the protocol has none since 2025-06-18.
//
// A session is closed, too, when the context of one of its requests ends with abi.AccessDenied as its cause: the caller's
// credentials are good no longer.
//
// Requests that a browser sends for a page of another origin are refused; see [http.CrossOriginProtection].
func (s *Server) Handler(caller func(*http.Request) (host.Caller, error)) http.Handler {
	streamable := mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		SessionTimeout: min(cmp.Or(s.host.App().SessionIdle, app.DefaultSessionIdle), maxIdle),
	})
	return withProblems(http.NewCrossOriginProtection().Handler(&handler{s, caller, streamable}))
}

type handler struct {
	api        *Server
	caller     func(*http.Request) (host.Caller, error)
	streamable http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	owner, err := h.caller(r)
	if err != nil {
		refuse(w, err)
		return
	}
	owner.Tenant = cmp.Or(owner.Tenant, host.DefaultTenant)
	if r.Method == http.MethodPost && isBatch(r) {
		rejectBatch(w)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" && rejectBeforeSession(w, r) {
		return
	}
	sess, ok := h.session(r, owner)
	if !ok {
		http.Error(w, "session not found", http.StatusNotFound) // as the SDK says it; clients then begin a new one
		return
	}
	if sess != nil {
		stop := context.AfterFunc(r.Context(), func() {
			if errors.Is(context.Cause(r.Context()), abi.AccessDenied) {
				sess.stop()
				sess.close()
			}
		})
		defer stop()
	}
	switch {
	case sess == nil:
	case r.Method == http.MethodGet:
		sess.leave() // a stream is open as long as the session is, and asks nothing
	case r.Method == http.MethodDelete:
		sess.stop() // closing waits for runs, which nobody waits for
		fallthrough
	default:
		defer sess.leave()
	}
	h.streamable.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, sess)))
}

// session is the one that the request names, if it is the caller's, or a new one where it may begin one. It is busy with
// the request, so that it is not closed before the answer is written.
func (h *handler) session(r *http.Request, owner host.Caller) (sess *session, ok bool) {
	if id := r.Header.Get(sessionHeader); id != "" {
		sess = h.api.find(id, owner)
		return sess, sess != nil
	}
	if r.Method != http.MethodPost {
		return nil, true // the SDK will say what is missing
	}
	sess = h.api.newSession(owner)
	sess.hold()
	return sess, true
}

// sessionKey is where a request carries its session through the SDK, which leaves no other way.
type sessionKey struct{}

func serverOf(r *http.Request) *mcp.Server {
	if sess, _ := r.Context().Value(sessionKey{}).(*session); sess != nil {
		return sess.server
	}
	return nil
}

// refuse says why a caller is not served.
func refuse(w http.ResponseWriter, err error) {
	fault, ok := errors.AsType[*abi.Fault](err)
	if !ok {
		fault = abi.Faultf(abi.AccessDenied, "the request was not accepted")
	}
	status := http.StatusForbidden
	if fault.Code == abi.NoUser {
		status = http.StatusUnauthorized
	}
	writeProblem(w, status, fault)
}
