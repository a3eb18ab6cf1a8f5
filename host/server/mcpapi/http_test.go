package mcpapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/mcpapi"
)

// listen serves an app over HTTP. listen trusts the user in a header.
func listen(t *testing.T, s *mcpapi.Server) string {
	t.Helper()
	server := httptest.NewServer(s.Handler(func(r *http.Request) (host.Caller, error) {
		switch user := r.Header.Get("User"); user {
		case "":
			return host.Caller{}, abi.Faultf(abi.NoUser, "say who you are")
		case "mallory":
			return host.Caller{}, errors.New("the secret reason")
		default:
			return host.Caller{Tenant: r.Header.Get("Tenant"), User: user, Session: r.Header.Get("Session"), Actor: r.Header.Get("Actor")}, nil
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { s.Close() }) // close the server first, because streams are open
	return server.URL
}

// The type "as" adds the user to every request.
type as string

func (user as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User", string(user))
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, url, user string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: as(user)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// ask sends an HTTP request without using the SDK.
func ask(t *testing.T, method, url, user, session, body string) (status int, answer string) {
	t.Helper()
	return askHost(t, "", method, url, user, session, body)
}

// askHost sends an HTTP request with a Host header without using the SDK. If the argument "host" is
// "", the header contains the host of the URL.
func askHost(t *testing.T, host, method, url, user, session, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("User", user)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && method == http.MethodGet {
		return resp.StatusCode, "" // an open stream
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

const listTools = `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`

func TestHTTP(t *testing.T) {
	h := openShop(t)
	url := listen(t, serve(t, h))
	ann, ben := dial(t, url, "ann", nil), dial(t, url, "ben", nil)
	call(t, ann, "order", map[string]any{"item": "tea"})
	if got, err := read(t, ann, "orders"); got != `{"item":"tea"}` || err != nil {
		t.Errorf("ann's orders are %s, %v; want tea", got, err)
	}
	if got, err := read(t, ben, "orders"); got != `null` || err != nil {
		t.Errorf("ben's orders are %s, %v; want none", got, err)
	}
	if open := sessionsOf(t, h, "ann"); len(open) != 1 {
		t.Errorf("ann has the sessions %v; want one", open)
	}
	ann.Close()
	if open := sessionsOf(t, h, "ben"); len(open) != 1 {
		t.Errorf("ben has the sessions %v after ann has left; want one", open)
	}
}

func TestForeignSessionIsRefused(t *testing.T) {
	url := listen(t, serve(t, openShop(t)))
	ann := dial(t, url, "ann", nil)
	dial(t, url, "ben", nil)
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		foreign, answer := ask(t, method, url, "ben", ann.ID(), listTools)
		unknown, same := ask(t, method, url, "ben", "NOSUCHSESSION", listTools)
		if foreign != http.StatusNotFound || foreign != unknown || answer != same {
			t.Errorf("%s with ann's session as ben = %d %q; want the response for an unknown session: %d %q", method, foreign, answer, unknown, same)
		}
	}
	if status, _ := ask(t, http.MethodPost, url, "ann", ann.ID(), listTools); status != http.StatusOK {
		t.Errorf("then ann's session returns %d; want 200", status)
	}
}

func TestCallersAreAuthenticated(t *testing.T) {
	h := openShop(t)
	url := listen(t, serve(t, h))
	tests := []struct {
		user   string
		status int
		want   string
	}{
		{"", http.StatusUnauthorized, `"detail":"say who you are","code":"no_user"`},
		{"mallory", http.StatusForbidden, `"detail":"the request was not accepted","code":"access_denied"`},
	}
	for _, test := range tests {
		if status, answer := ask(t, http.MethodPost, url, test.user, "", listTools); status != test.status || !strings.Contains(answer, test.want) || strings.Contains(answer, "secret") {
			t.Errorf("as %q the response is %d %q; want %d %q", test.user, status, answer, test.status, test.want)
		}
	}
}

// A proxy on the same machine connects to a loopback address and passes on the public Host header.
func TestPublicHostOnLoopback(t *testing.T) {
	url := listen(t, serve(t, openShop(t)))
	ann := dial(t, url, "ann", nil)
	if status, answer := askHost(t, "tools.example", http.MethodPost, url, "ann", ann.ID(), listTools); status != http.StatusOK {
		t.Errorf("a request to the host tools.example returns %d %q; want 200", status, answer)
	}
}

// A request without initialize starts neither an MCP session nor a memory session.
func TestRequestOutsideOfASession(t *testing.T) {
	h := openShop(t)
	url := listen(t, serve(t, h))
	for _, test := range []struct {
		method, body string
	}{{http.MethodPost, listTools}, {http.MethodPost, "{"}, {http.MethodPost, ""}, {http.MethodGet, ""}, {http.MethodDelete, ""}, {http.MethodPut, ""}} {
		if status, answer := ask(t, test.method, url, "ann", "", test.body); status == http.StatusOK && !strings.Contains(answer, `"error"`) {
			t.Errorf("%s %q = %d %q; want an error", test.method, test.body, status, answer)
		}
	}
	if open := sessionsOf(t, h, "ann"); len(open) != 0 {
		t.Errorf("the requests started the sessions %v; want none", open)
	}
}

func TestClosedServer(t *testing.T) {
	runs := &results{ended: make(chan *report.Result, 1)}
	h := openShop(t, runs)
	s := serve(t, h)
	url := listen(t, s)
	begun, called := make(chan struct{}), make(chan struct{})
	ann := dial(t, url, "ann", onLog(func() { close(begun) }))
	setLevel(t, ann, "debug")
	go func() {
		defer close(called)
		_, _ = ann.CallTool(t.Context(), &mcp.CallToolParams{Name: "endless"})
	}()
	<-begun
	s.Close()
	if result := <-runs.ended; !errors.Is(result.Error, abi.Cancelled) {
		t.Errorf("the run ended with %v; want cancelled", result.Error)
	}
	<-called
	if open := sessionsOf(t, h, "ann"); len(open) != 0 {
		t.Errorf("after Close the sessions %v are open; want none", open)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	_, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: as("ann")}}, nil)
	if err == nil {
		t.Error("a closed server starts a session")
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize",` +
	`"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// begin starts an MCP session that uses the given memory session. begin returns the MCP session id
// and the response.
func begin(t *testing.T, url, user, memory string) (id, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Session", memory)
	resp, err := as(user).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Get("Mcp-Session-Id"), string(text)
}

// The least recently used session of the same caller is evicted. Sessions of other callers are not
// evicted.
func TestSessionsOfACallerAreBounded(t *testing.T) {
	runs := &results{left: make(chan host.Caller, 200)}
	h := openShop(t, runs)
	url := listen(t, serve(t, h))
	ben := dial(t, url, "ben", nil)
	first, _ := begin(t, url, "ann", "")
	for range 100 {
		begin(t, url, "ann", "")
	}
	if left := <-runs.left; left.User != "ann" {
		t.Errorf("the session of %+v was ended; want one of ann's", left)
	}
	if status, _ := ask(t, http.MethodPost, url, "ann", first, listTools); status != http.StatusNotFound {
		t.Errorf("the oldest of 101 sessions returns %d; want 404", status)
	}
	if status, _ := ask(t, http.MethodPost, url, "ben", ben.ID(), listTools); status != http.StatusOK {
		t.Errorf("the session of another caller returns %d; want 200", status)
	}
}

// TestBatch sends batches, which contain many calls. The test sends one batch in a session and
// another batch without a session.
func TestBatch(t *testing.T) {
	h := openShop(t)
	url := listen(t, serve(t, h))
	ann := dial(t, url, "ann", nil)
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order","arguments":{"item":"tea"}}}`
	for _, session := range []string{"", ann.ID()} {
		for _, body := range []string{"[" + message + "]", " \n[" + strings.Repeat(message+",", 20) + message + "]", "[]"} {
			status, answer := ask(t, http.MethodPost, url, "ann", session, body)
			if status != http.StatusBadRequest || !strings.Contains(answer, `"code":-32600`) || !strings.Contains(answer, `"id":null`) {
				t.Errorf("a batch = %d %s; want a JSON-RPC error", status, answer)
			}
		}
	}
	if got, err := read(t, ann, "orders"); got != `null` || err != nil {
		t.Errorf("ann's orders are %s, %v; want none", got, err)
	}
}

// TestErrorsOfHTTPAreProblems sends requests that are rejected by the server, the SDK or net/http.
func TestErrorsOfHTTPAreProblems(t *testing.T) {
	url := listen(t, serve(t, openShop(t)))
	for _, tt := range []struct {
		name, method, user, session, body string
		headers                           map[string]string
		status                            int
		code                              string
	}{
		{name: "no user", method: "POST", body: listTools, status: 401, code: "no_user"},
		{name: "a rejected caller", method: "POST", user: "mallory", body: listTools, status: 403, code: "access_denied"},
		{name: "no such session", method: "POST", user: "ann", session: "nothing", body: listTools, status: 404, code: "not_found"},
		{name: "an unknown method", method: "PUT", user: "ann", status: 405, code: "invalid_argument"},
		{name: "invalid JSON", method: "POST", user: "ann", body: "not json", status: 400, code: "invalid_argument"},
		{name: "a page of another origin", method: "POST", user: "ann", body: listTools, headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403, code: "access_denied"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, url, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User", tt.user)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if tt.session != "" {
			r.Header.Set("Mcp-Session-Id", tt.session)
		}
		for name, value := range tt.headers {
			r.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var problem struct {
			Type, Title, Detail, Code string
			Status                    int
		}
		err = json.NewDecoder(response.Body).Decode(&problem)
		response.Body.Close()
		if response.StatusCode != tt.status || response.Header.Get("Content-Type") != "application/problem+json" || err != nil {
			t.Errorf("%s = %s, %s, %v; want a problem document, %d", tt.name, response.Status, response.Header.Get("Content-Type"), err, tt.status)
			continue
		}
		if problem.Code != tt.code || problem.Status != tt.status || problem.Detail == "" || problem.Type != "urn:toolrun:fault:"+tt.code {
			t.Errorf("%s = %+v; want the code %s", tt.name, problem, tt.code)
		}
	}
}

// TestRequestBeforeInitialize sends a request before the initialization. The error must have a code
// both over HTTP and over stdio.
func TestRequestBeforeInitialize(t *testing.T) {
	url := listen(t, serve(t, openShop(t)))
	status, answer := ask(t, http.MethodPost, url, "ann", "", listTools)
	var a answered
	if err := json.Unmarshal([]byte(answer), &a); err != nil || status != 400 || a.ID != 9.0 || a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("a request without a session = %d %s, %v; want an error -32600", status, answer, err)
	}
}
