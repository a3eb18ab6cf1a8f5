package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
)

// credentials gives a client access to /mcp. credentials consists of a secret and the query part of
// the URL.
type credentials struct{ secret, query string }

// mcpService is a service for MCP clients. A client authenticates with a key or a token.
type mcpService struct {
	*serving
	key  string
	sign func(claims map[string]any) string
}

func startMCP(t *testing.T, dir string) *mcpService {
	t.Helper()
	binary, err := exec.LookPath("toolrun")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	keys := filepath.Join(work, "keys.json")
	out, err := exec.CommandContext(t.Context(), binary, "key", "create", "--keys", keys, "--role", "runtime", "--json", "backend").Output()
	var key struct{ Secret string }
	if err == nil {
		err = json.Unmarshal(out, &key)
	}
	if err != nil {
		t.Fatalf("create a key: %v\n%s", err, out)
	}
	set, sign := newIssuer(t)
	writeFiles(t, work, map[string]string{"jwks.json": set})
	s := startServe(t, binary, dir, "--keys", keys, "--db", filepath.Join(work, "memory.db"),
		"--issuer", "https://issuer.example", "--audience", "toolrun", "--jwks", filepath.Join(work, "jwks.json"))
	return &mcpService{s, key.Secret, sign}
}

// newIssuer creates a token issuer. newIssuer returns the issuer's public keys, and a function that
// signs claims.
func newIssuer(t *testing.T) (set string, sign func(map[string]any) string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "1", Algorithm: "EdDSA", Use: "sig"}}})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithHeader("kid", "1"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), func(claims map[string]any) string {
		t.Helper()
		all := map[string]any{
			"iss": "https://issuer.example", "aud": "toolrun", "tenant": host.DefaultTenant, "exp": time.Now().Add(time.Hour).Unix(),
		}
		maps.Copy(all, claims)
		payload, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign(payload)
		if err != nil {
			t.Fatal(err)
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

// token returns a token for a user.
func (s *mcpService) token(user string) credentials {
	return credentials{secret: s.sign(map[string]any{"sub": user})}
}

// keyFor returns credentials. The secret is the service's key, and the URL names the user.
func (s *mcpService) keyFor(user string) credentials {
	return credentials{s.key, "?user_id=" + url.QueryEscape(user)}
}

// bearer is an HTTP transport that adds a secret to every request.
type bearer string

func (secret bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(secret))
	return http.DefaultTransport.RoundTrip(r)
}

// connect starts an MCP session with the client from the Go SDK.
func (s *mcpService) connect(t *testing.T, c credentials) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.url + "/mcp" + c.query, HTTPClient: &http.Client{Transport: bearer(c.secret)},
	}, nil)
	if err != nil {
		t.Fatalf("connect: %v\n%s", err, s.stderr)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// ask sends one request without an MCP client. The request belongs to the given MCP session. If the
// session is "", the request starts a new MCP session.
func (s *mcpService) ask(t *testing.T, method string, c credentials, session, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+"/mcp"+c.query, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.secret != "" {
		r.Header.Set("Authorization", "Bearer "+c.secret)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK && method == http.MethodGet {
		return response.StatusCode, "" // the response is a stream that stays open
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func greet(t *testing.T, s *mcp.ClientSession, arguments string) string {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "remember_me", Arguments: json.RawMessage(arguments)})
	if err != nil || result.IsError || len(result.Content) != 1 {
		t.Fatalf("remember_me(%s) = %+v, %v", arguments, result, err)
	}
	return result.Content[0].(*mcp.TextContent).Text
}

// TestMCPOverHTTP tests a service with the client from the Go SDK. Only the user who stored a value
// can read it. The user comes from a token or from the URL.
func TestMCPOverHTTP(t *testing.T) {
	s := startMCP(t, examples)
	ann, annByKey, ben := s.connect(t, s.token("ann")), s.connect(t, s.keyFor("ann")), s.connect(t, s.keyFor("ben"))
	var names []string
	for tool, err := range ann.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if want := slices.Sorted(maps.Keys(exampleInputs)); !slices.Equal(names, want) {
		t.Errorf("the tools are %q; want %q", names, want)
	}
	greet(t, ann, `{"language":"fr"}`)
	if got, want := greet(t, annByKey, `{}`), `{"greeting":"Welcome back! You prefer fr."}`; got != want {
		t.Errorf("the key's client for ann is greeted with %s; want %s", got, want)
	}
	if got := greet(t, ben, `{}`); strings.Contains(got, "fr") {
		t.Errorf("ben is greeted with %s, which is from ann's data", got)
	}
	prompts, err := ann.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) == 0 {
		t.Fatalf("the prompts are %+v, %v", prompts, err)
	}
	for _, prompt := range prompts.Prompts {
		if got, err := ann.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: prompt.Name}); err != nil || len(got.Messages) != 1 {
			t.Errorf("the prompt %s = %+v, %v", prompt.Name, got, err)
		}
	}
	anonymous := s.connect(t, credentials{secret: s.key})
	result, err := anonymous.CallTool(t.Context(), &mcp.CallToolParams{Name: "remember_me", Arguments: json.RawMessage(`{"language":"fr"}`)})
	if err != nil || !result.IsError || !strings.HasPrefix(result.Content[0].(*mcp.TextContent).Text, "no_user: ") {
		t.Errorf("remember_me without a user = %+v, %v; want no_user", result, err)
	}
}

// TestMCPNamedSession uses a session that the platform has started. The session stays open after
// the client disconnects.
func TestMCPNamedSession(t *testing.T) {
	s := startMCP(t, examples)
	var began struct {
		ID string `json:"session_id"`
	}
	if status, err := s.post(t.Context(), s.key, "/api/v1/sessions", `{"user_id":"ann","metadata":{"tier":"gold"}}`, nil, &began); status != http.StatusCreated {
		t.Fatalf("start a session = %d, %v", status, err)
	}
	meta := &mcp.ReadResourceParams{URI: "toolrun://examples/memory/sessionMeta"}
	for name, c := range map[string]credentials{
		"address": {s.key, "?user_id=ann&session_id=" + began.ID},
		"token":   {secret: s.sign(map[string]any{"sub": "ann", "session_id": began.ID})},
		"both":    {s.sign(map[string]any{"sub": "ann"}), "?session_id=" + began.ID},
	} {
		client := s.connect(t, c)
		if got, err := client.ReadResource(t.Context(), meta); err != nil || !strings.Contains(got.Contents[0].Text, `"tier":"gold"`) {
			t.Errorf("%s: the session's metadata is %+v, %v", name, got, err)
		}
		if err := client.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	ben := s.connect(t, credentials{s.key, "?user_id=ben&session_id=" + began.ID})
	if got, err := ben.ReadResource(t.Context(), meta); err == nil {
		t.Errorf("ben reads ann's session: %+v", got)
	}
}

const listMCPTools = `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`

// TestMCPForeignSession sends requests that contain the id of another caller's MCP session. The
// response to such a request must be the same as if the MCP session did not exist.
func TestMCPForeignSession(t *testing.T) {
	s := startMCP(t, examples)
	for name, owner := range map[string]credentials{"token": s.token("ann"), "key": s.keyFor("ann")} {
		session := s.connect(t, owner)
		for other, c := range map[string]credentials{
			"ben's token": s.token("ben"), "the key for ben": s.keyFor("ben"), "the key without a user": {secret: s.key},
			"ann's token of another tenant": {secret: s.sign(map[string]any{"sub": "ann", "tenant": "other"})},
		} {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				foreign, answer := s.ask(t, method, c, session.ID(), listMCPTools)
				unknown, same := s.ask(t, method, c, "NOSUCHSESSION", listMCPTools)
				if foreign != http.StatusNotFound || foreign != unknown || answer != same {
					t.Errorf("%s with the session of ann's %s, by %s = %d %q; want the response for an unknown one: %d %q",
						method, name, other, foreign, answer, unknown, same)
				}
			}
		}
		if status, answer := s.ask(t, http.MethodPost, owner, session.ID(), listMCPTools); status != http.StatusOK {
			t.Errorf("ann's own session by %s then answers %d %s", name, status, answer)
		}
	}
}

// TestMCPRefused sends requests that the service must reject, and checks the reasons in the
// responses.
func TestMCPRefused(t *testing.T) {
	s := startMCP(t, examples)
	bound := s.sign(map[string]any{"sub": "ann", "session_id": "s1"})
	for _, tt := range []struct {
		name   string
		as     credentials
		status int
		code   string
	}{
		{"no credentials", credentials{}, http.StatusUnauthorized, "access_denied"},
		{"another's key", credentials{secret: "trk_none"}, http.StatusUnauthorized, "access_denied"},
		{"a token for another user", credentials{s.token("ann").secret, "?user_id=ben"}, http.StatusForbidden, "access_denied"},
		{"a token for another session", credentials{bound, "?session_id=s2"}, http.StatusForbidden, "access_denied"},
		{"a misspelt name", credentials{s.key, "?user=ann"}, http.StatusBadRequest, "invalid_argument"},
		{"two users", credentials{s.key, "?user_id=ann&user_id=ben"}, http.StatusBadRequest, "invalid_argument"},
		{"no query", credentials{s.key, "?user_id=%zz"}, http.StatusBadRequest, "invalid_argument"},
		{"another app", credentials{s.key, "?app=other&user_id=ann"}, http.StatusNotFound, "not_found"},
	} {
		status, answer := s.ask(t, http.MethodPost, tt.as, "", listMCPTools)
		var problem struct{ Code string }
		if err := json.Unmarshal([]byte(answer), &problem); err != nil || status != tt.status || problem.Code != tt.code {
			t.Errorf("%s = %d %s, %v; want %d, %s", tt.name, status, answer, err, tt.status, tt.code)
		}
		if tt.as.secret != "" && strings.Contains(answer, tt.as.secret) {
			t.Errorf("%s: the response contains the secret: %s", tt.name, answer)
		}
	}
}

// TestInspectorOverHTTP uses the command line of the MCP Inspector to list and call the tools of a
// service.
func TestInspectorOverHTTP(t *testing.T) {
	needInspector(t)
	dir, tools := inspected(t)
	inspectExamples(t, startMCP(t, dir).inspected(), tools...)
}

// inspected returns the arguments with which the Inspector connects to a service.
func (s *mcpService) inspected() []string {
	ann := s.keyFor("ann")
	return []string{s.url + "/mcp" + ann.query, "--transport", "http", "--header", "Authorization: Bearer " + ann.secret}
}
