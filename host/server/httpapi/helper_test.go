package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
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
)

const shop = `
app: shop
memory:
  prefs: {access: user, retention: 1_month, strict: true, schema: {type: object, properties: {language: {type: string}, visits: {type: integer}}}}
  cart: {access: session, retention: session}
  flags: {access: application}
  notebook: {kind: collection, access: user}
blocks: true
sleep: {tool: look}
facts:
  user.language: {type: string, default: en}
  workflow.step: {type: number}
tools:
  remember:
    source: remember.js
    description: counts visits
    inputSchema: {type: object, properties: {language: {type: string}, message: {type: string}}}
    grants: {prefs: readwrite, sessionMeta: read}
  wait: {source: wait.js, description: never ends, grants: {prefs: readwrite}, limits: {timeout: 180s}}
  fail: {source: fail.js, description: fails, grants: {prefs: readwrite}}
  step: {source: step.js, description: counts steps of a workflow, grants: {workflow.step: readwrite}}
  look: {source: look.js, description: shows what it sees, grants: {sessionMeta: read}}
  style: {source: style.js, description: reads the block of the agent, grants: {core: read}}
prompts:
  greeting: {template: "Hello {{memory.sessionMeta.metadata.userName}}, {{memory.prefs.language}}", grants: {sessionMeta: read, prefs: read}}
`

var shopFiles = fstest.MapFS{
	"app.yaml": {Data: []byte(shop)},
	"remember.js": {Data: []byte(`
		const p = await memory.get_content("prefs");
		console.log("seen", p?.visits ?? 0);
		await memory.set_content("prefs", {visits: (p?.visits ?? 0) + 1, ...($language ? {language: $language} : {})});
		return {visits: (p?.visits ?? 0) + 1, user: context.userId, message: context.message ?? null};`)},
	"wait.js":  {Data: []byte(`await memory.set_content("prefs", {visits: 99}); console.log("waiting"); for (;;) {}`)},
	"fail.js":  {Data: []byte(`await memory.set_content("prefs", {visits: 99}); throw new Error("on purpose")`)},
	"step.js":  {Data: []byte(`const n = 1 + (await memory.get_fact("workflow.step") ?? 0); await memory.set_fact("workflow.step", n); return n`)},
	"style.js": {Data: []byte(`return (await memory.get_block("core", {agent: true})).content`)},
	"look.js":  {Data: []byte(`return {meta: await memory.get_content("sessionMeta"), context}`)},
	"agents/concierge.abl": {Data: []byte(`
AGENT: Concierge
GOAL: "Remember the language of a user"
MEMORY:
  session:
    - language
    - secret
      SENSITIVE: true
  persistent:
    - user.language
      TYPE: string
      DEFAULT: "en"
  remember:
    - WHEN: language IS SET
      STORE: language -> user.language
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.language]
CONSTRAINTS:
  known:
    - RESTRICT language == "xx" BEFORE calling fail
      ON_FAIL: "No language is called {{language}}."
    - RESTRICT input == "yy" BEFORE calling fail
      ON_FAIL: BLOCK
FLOW:
  ask:
    REASONING: false
    GATHER:
      - language: required
        PROMPT: "Which language?"
    THEN: count
  count:
    REASONING: false
    CHECK: language != "zz"
    ON_FAIL: fail
    CALL: remember(language)
    RESPOND: "I remember {{language}}."
    THEN: COMPLETE
  fail:
    REASONING: false
    CALL: fail()
    THEN: COMPLETE
`)},
}

// service is a server with one app. Callers authenticate with a header.
type service struct {
	t      testing.TB
	server *httptest.Server
	api    *httpapi.Server
}

// roles maps values of the header to the principals of these tests.
var roles = map[string]auth.Principal{
	"operator":  {Role: auth.Operator, Tenant: "acme", Name: "op"},
	"runtime":   {Role: auth.Runtime, Tenant: "acme", Name: "backend"},
	"coder":     {Role: auth.Runtime, Tenant: "acme", Name: "coder", CanRunCode: true},
	"read-only": {Role: auth.ReadOnly, Tenant: "acme", Name: "watcher"},
	"approver":  {Role: auth.Approver, Tenant: "acme", Name: "boss"},
	"backup":    {Role: auth.Backup, Tenant: "acme", Name: "nightly"},
	"metering":  {Role: auth.Metering, Tenant: "acme", Name: "bills"},
	"ann":       {Role: auth.User, Tenant: "acme", User: "ann", Name: "ann"},
	"bob":       {Role: auth.User, Tenant: "acme", User: "bob", Name: "bob"},
	"claimed":   {Role: auth.User, Tenant: "acme", User: "ann", Session: "claimed", Name: "ann"},
	"flowing":   {Role: auth.User, Tenant: "acme", User: "ann", Workflow: "trip", Name: "ann"},
	"elsewhere": {Role: auth.Operator, Tenant: "other", Name: "op"},
	"no app":    {Role: auth.Operator, Tenant: "acme", Apps: []string{"another"}, Name: "op"},
	"one app":   {Role: auth.Operator, Tenant: "acme", Apps: []string{"shop"}, Name: "op"},
}

func authenticate(r *http.Request) (auth.Principal, error) {
	who := r.Header.Get("Authorization")
	if who == "" {
		return auth.Principal{}, auth.NoCredentials
	}
	p, ok := roles[strings.TrimPrefix(who, "Bearer ")]
	if !ok {
		return p, auth.Invalid
	}
	return p, nil
}

// documents extracts the text of documents in all tests, so the PDF library is compiled only once.
var documents = extract.New()

// newService starts a service. The engines of the service run in this process, because isolation is
// tested elsewhere.
func newService(t testing.TB, change ...func(*httpapi.Options)) *service {
	t.Helper()
	return newServiceOf(t, func(*tenants.Options) {}, change...)
}

// newServiceOf is like newService, but uses the given options.
func newServiceOf(t testing.TB, changeApps func(*tenants.Options), change ...func(*httpapi.Options)) *service {
	t.Helper()
	return newServiceWith(t, shopFiles, changeApps, change...)
}

// newServiceWith is like newServiceOf, but serves the given app.
func newServiceWith(t testing.TB, files fstest.MapFS, changeApps func(*tenants.Options), change ...func(*httpapi.Options)) *service {
	t.Helper()
	declared, problems := app.Load(files, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	links, err := httpapi.NewLinks(bytes.Repeat([]byte("k"), 32), "http://files.example", nil)
	if err != nil {
		t.Fatal(err)
	}
	appOptions := tenants.Options{FileURL: links.Make, Host: host.Options{Backend: mem.New(), Engines: []engine.Engine{js.New()}, Ledger: time.Hour, Metering: time.Hour}}
	changeApps(&appOptions)
	served := tenants.New(appOptions)
	if err := served.Serve(t.Context(), []*app.App{declared}); err != nil {
		t.Fatal(err)
	}
	reader := &extract.Reader{Engine: documents}
	opts := httpapi.Options{Apps: served, Authenticate: authenticate, Documents: reader, Links: links, Version: "test", Backup: newBackup}
	for _, c := range change {
		c(&opts)
	}
	api, err := httpapi.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, api: api, server: httptest.NewServer(api)}
	t.Cleanup(func() {
		s.server.Close()
		if err := served.Close(); err != nil {
			t.Error(err)
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// reply is a response with its body.
type reply struct {
	*http.Response
	body []byte
}

func (r reply) String() string { return r.Status + " " + string(r.body) }

// into decodes the response.
func (r reply) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%s: %v", r, err)
	}
}

// ask sends a request with the credentials of a role. The argument "headers" contains pairs of a
// name and a value.
func (s *service) ask(who, method, path, body string, headers ...string) reply {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+who)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{response, text}
}

// want sends a request and expects a response with the given status.
func (s *service) want(status int, who, method, path, body string, headers ...string) reply {
	s.t.Helper()
	r := s.ask(who, method, path, body, headers...)
	if r.StatusCode != status {
		s.t.Fatalf("%s %s as %s = %s; want %d", method, path, who, r, status)
	}
	return r
}

func contains(r reply, text string) bool { return strings.Contains(string(r.body), text) }

// testBackup is a backup of 1 MiB.
type testBackup struct {
	io.Reader
	closed bool
}

func (*testBackup) Size() int64 { return 1 << 20 }

func (b *testBackup) Close() error {
	b.closed = true
	return nil
}

func newBackup(context.Context) (httpapi.Backup, error) {
	return &testBackup{Reader: bytes.NewReader(bytes.Repeat([]byte("all of it, "), 100_000)[:1<<20])}, nil
}
