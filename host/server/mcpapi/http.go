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

// sessionHeader is the HTTP header that contains the id of the MCP session.
const sessionHeader = "Mcp-Session-Id"

// maxIdle is the maximum idle time of a session. This limit on the idle time is necessary, because
// the session of a client that has disappeared occupies memory. If the client of a closed session
// still exists, the client begins a new session.
const maxIdle = time.Hour

// Handler serves MCP over streamable HTTP at any path. The function caller authenticates a request
// and returns its Caller. The errors of the function "caller" should be of type *abi.Fault. If the
// function returns a fault with the code no_user, the response has status 401. For all other
// errors, the response has status 403.
//
// A session belongs to the Caller that began the session. A request for a session of another
// tenant, user or memory session gets the same response as for an unknown session. A client can
// close its session. If the client does not close its session, the server closes the session after
// an hour without requests, or earlier if the app has a shorter session idle time. A session is
// also closed if its user opens too many other sessions.
//
// HTTP errors are problem documents (RFC 9457). JSON-RPC batches are rejected, because one batch
// could start any number of runs. The protocol has not had batches since version 2025-06-18.
//
// A session is also closed if the context of one of its requests ends with the cause
// abi.AccessDenied. The cause abi.AccessDenied means that the caller's credentials are no longer
// valid.
//
// Cross-origin requests from browsers are rejected; see [http.CrossOriginProtection].
func (s *Server) Handler(caller func(*http.Request) (host.Caller, error)) http.Handler {
	streamable := mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		SessionTimeout: min(cmp.Or(s.host.App().SessionIdle, app.DefaultSessionIdle), maxIdle),
		// The SDK would reject the public Host header that a proxy on the same machine passes on.
		// The check of the Host header protects services without authentication from DNS rebinding.
		// For this Handler, the check of the Host header is not necessary, because the function
		// "caller" authenticates every request.
		DisableLocalhostProtection: true,
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
		http.Error(w, "session not found", http.StatusNotFound) // same text as in the SDK; clients then begin a new session
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
		sess.leave() // a stream lasts for the whole session and is not counted as a request
	case r.Method == http.MethodDelete:
		sess.stop() // cancel the runs first, because closing waits for them
		fallthrough
	default:
		defer sess.leave()
	}
	h.streamable.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, sess)))
}

// session returns the session of the request, provided that it belongs to the caller. If the
// request may begin a session, session returns a new session. The session counts as busy until the
// response is written, so that the session is not closed during the request.
func (h *handler) session(r *http.Request, owner host.Caller) (sess *session, ok bool) {
	if id := r.Header.Get(sessionHeader); id != "" {
		sess = h.api.find(id, owner)
		return sess, sess != nil
	}
	if r.Method != http.MethodPost {
		return nil, true // the SDK reports the missing session
	}
	sess = h.api.newSession(owner)
	sess.hold()
	return sess, true
}

// sessionKey is the context key of the session. The SDK offers no other way to pass the session to
// handlers.
type sessionKey struct{}

func serverOf(r *http.Request) *mcp.Server {
	if sess, _ := r.Context().Value(sessionKey{}).(*session); sess != nil {
		return sess.server
	}
	return nil
}

// refuse writes the response to a request whose caller was rejected.
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
