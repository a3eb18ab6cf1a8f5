package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/sdk/client"
)

var shop = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: shop
default_tool: fail
blocks: true
collections: auto
memory:
  prefs: {access: user, retention: 1_month, strict: true, schema: {type: object, properties: {language: {type: string}, visits: {type: integer}}}}
  flags: {access: application}
sleep: {tool: fail}
facts:
  user.language: {type: string, default: en}
tools:
  remember:
    source: remember.js
    description: counts visits
    inputSchema: {type: object, properties: {language: {type: string}}}
    grants: {prefs: readwrite, sessionMeta: read}
  fail: {source: fail.js, description: fails, grants: {prefs: readwrite}}
  wait: {source: wait.js, description: never ends}
  gated: {source: gated.js, description: stores if a person approves, grants: {flags: readwrite}, approval: {before: [set_content]}}
prompts:
  greeting: {template: "Hello {{memory.sessionMeta.metadata.userName}}, {{memory.prefs.language}}", grants: {sessionMeta: read, prefs: read}}
`)},
	"remember.js": {Data: []byte(`
		const p = await memory.get_content("prefs");
		console.log("seen", p?.visits ?? 0);
		console.warn("and stored");
		await memory.set_content("prefs", {visits: (p?.visits ?? 0) + 1, ...($language ? {language: $language} : {})});
		return {visits: (p?.visits ?? 0) + 1};`)},
	"gated.js": {Data: []byte(`await memory.set_content("flags", {approved: true}); return "stored"`)},
	"fail.js":  {Data: []byte(`console.log("about to fail"); await memory.set_content("prefs", {visits: 99}); throw new Error("on purpose")`)},
	"greeter.abl": {Data: []byte(`
AGENT: Greeter
GOAL: "Greet users"
MEMORY:
  session:
    - name
  persistent:
    - user.nickname
  remember:
    - WHEN: name IS SET
      STORE: name -> user.nickname
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.nickname]
CONSTRAINTS:
  names:
    - REQUIRE name == "fail" BEFORE calling fail
      ON_FAIL: BLOCK
FLOW:
  ask:
    REASONING: false
    GATHER:
      - name: required
        PROMPT: "Who are you?"
    THEN: check
  check:
    REASONING: false
    CHECK: name != "fail"
    ON_FAIL: fail
    RESPOND: "Hello, {{name}}!"
    THEN: COMPLETE
  fail:
    REASONING: false
    CALL: fail()
    THEN: COMPLETE
`)},
	"wait.js": {Data: []byte(`console.log("waiting"); for (;;) {}`)},
}

// keys maps the valid credentials to principals.
var keys = map[string]auth.Principal{
	"operator":  {Role: auth.Operator, Tenant: "acme", Name: "op", CanRunCode: true},
	"backup":    {Role: auth.Backup, Tenant: "acme", Name: "nightly"},
	"read-only": {Role: auth.ReadOnly, Tenant: "acme", Name: "watcher"},
	"ann":       {Role: auth.User, Tenant: "acme", User: "ann", Name: "ann"},
}

func authenticate(r *http.Request) (auth.Principal, error) {
	provided := r.Header.Get("Authorization")
	if provided == "" {
		return auth.Principal{}, auth.NoCredentials
	}
	p, ok := keys[strings.TrimPrefix(provided, "Bearer ")]
	if !ok {
		return p, auth.Invalid
	}
	return p, nil
}

// service is a toolrun service that records which operations are called.
type service struct {
	URL string
	api *httpapi.Server

	mu        sync.Mutex
	requested map[string]int // by pattern
	// left is the number of bytes that are still missing in a backup of 1 MiB.
	left int
}

// newService starts a service. Engines run in this process; isolation is tested elsewhere.
func newService(t testing.TB) *service {
	t.Helper()
	declared, problems := app.Load(shop, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	served := tenants.New(tenants.Options{Host: host.Options{Backend: mem.New(), Engines: []engine.Engine{js.New()}, Ledger: time.Hour, Metering: time.Hour}})
	if err := served.Serve(t.Context(), []*app.App{declared}); err != nil {
		t.Fatal(err)
	}
	reader := &extract.Reader{Engine: extract.New()}
	links, err := httpapi.NewLinks(bytes.Repeat([]byte("k"), 32), "http://files.example", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{requested: map[string]int{}}
	s.api, err = httpapi.New(httpapi.Options{Apps: served, Authenticate: authenticate, Documents: reader, Links: links, Backup: s.backup})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	s.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		for _, closing := range []func() error{served.Close, reader.Close} {
			if err := closing(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// copied is a fake backup.
type copied struct{ io.Reader }

func (copied) Size() int64  { return 1 << 20 }
func (copied) Close() error { return nil }

func (s *service) backup(context.Context) (httpapi.Backup, error) {
	return copied{bytes.NewReader(make([]byte, 1<<20-s.left))}, nil
}

// ServeHTTP counts the operation and serves it.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requested[s.api.Pattern(r)]++
	s.mu.Unlock()
	s.api.ServeHTTP(w, r)
}

// The method "as" returns a client with a key.
func (s *service) as(t testing.TB, key string) *client.Client {
	t.Helper()
	return newClient(t, client.Options{URL: s.URL, Key: key, App: "shop"})
}

func newClient(t testing.TB, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The function "must" returns the value of a call. If the call returned an error, the test ends.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// compact removes insignificant white space from a JSON text.
func compact(t testing.TB, text json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return b.String()
}
