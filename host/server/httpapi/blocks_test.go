package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

const corePath = "/api/v1/memory/blocks/core"

// putBlock writes a block. The argument "expected" is the time of the last write of the block, or
// "" to create the block.
func (s *service) putBlock(status int, who, path, content, expected string) (b apitypes.Block) {
	s.t.Helper()
	at := "null"
	if expected != "" {
		at = strconv.Quote(expected)
	}
	r := s.want(status, who, "PUT", path, fmt.Sprintf(`{"content":%q,"expected_updated_at":%s}`, content, at))
	if status == 200 {
		r.into(s.t, &b)
	}
	return b
}

// blocks lists the scopes, agents and names of blocks.
func (s *service) blocks(who, query string) (names []string) {
	s.t.Helper()
	var list apitypes.Blocks
	s.want(200, who, "GET", "/api/v1/memory/blocks"+query, "").into(s.t, &list)
	for _, b := range list.Blocks {
		name := b.Scope + "/" + b.Type
		if b.Agent != nil {
			name = b.Scope + " " + *b.Agent + "/" + b.Type
		}
		names = append(names, name)
	}
	return names
}

// A write succeeds only if the block has not changed since the caller read the block.
func TestBlockCompareAndSet(t *testing.T) {
	s := newService(t)
	if p := s.problem(404, "ann", "GET", corePath, ""); p.Code != "not_found" || p.Detail != `the block "core" does not exist` {
		t.Errorf("a missing block = %+v", p)
	}
	first := s.putBlock(200, "ann", corePath, "- Prefers tea", "")
	if first.Type != "core" || first.Scope != "user" || first.Agent != nil || first.Content != "- Prefers tea" || first.Revision == 0 || first.Created == "" {
		t.Errorf("the new block = %+v", first)
	}
	s.putBlock(409, "ann", corePath, "- again", "")
	s.want(409, "ann", "PUT", corePath, `{"content":"- a missing time counts as null"}`)
	second := s.putBlock(200, "ann", corePath, "- Prefers milk", first.Updated)
	if second.Updated <= first.Updated || second.Created != first.Created {
		t.Errorf("the second write = %+v after %+v", second, first)
	}
	s.putBlock(409, "ann", corePath, "- stale", first.Updated)
	if p := s.problem(400, "ann", "PUT", corePath, `{"content":"x","expected_updated_at":"yesterday"}`); p.Code != "invalid_argument" || p.Hint == "" {
		t.Errorf("a malformed time = %+v", p)
	}
	// The same time without a time zone, because some clients omit the time zone.
	withoutZone := strings.TrimSuffix(second.Updated, "Z")
	r := s.want(200, "ann", "PUT", corePath, `{"content":"- Prefers water","expected_updated_at":"`+withoutZone+`"}`)
	if !contains(r, "water") || r.Header.Get("ETag") == "" {
		t.Errorf("a write with a time without a zone = %s, ETag %q", r, r.Header.Get("ETag"))
	}
}

// A precondition can contain an ETag instead of a time.
func TestBlockETags(t *testing.T) {
	s := newService(t)
	const body = `{"content":"- text"}`
	if p := s.problem(412, "ann", "PUT", corePath, body, "If-Match", "*"); p.Hint != "read the block again and send its ETag in If-Match" {
		t.Errorf("a change of a missing block = %+v", p)
	}
	first := s.want(200, "ann", "PUT", corePath, body, "If-None-Match", "*").Header.Get("ETag")
	if p := s.problem(412, "ann", "PUT", corePath, body, "If-None-Match", "*"); p.Code != "conflict" || !strings.HasPrefix(p.Hint, "the block exists: ") {
		t.Errorf("a second creation = %+v", p)
	}
	if got := s.want(200, "ann", "GET", corePath, "").Header.Get("ETag"); got != first || first == "" {
		t.Errorf("the ETag is %q after %q", got, first)
	}
	second := s.want(200, "ann", "PUT", corePath, body, "If-Match", first).Header.Get("ETag")
	s.want(412, "ann", "PUT", corePath, body, "If-Match", first)
	s.want(200, "ann", "PUT", corePath, body, "If-Match", "*")
	s.want(400, "ann", "PUT", corePath, body, "If-Match", "W/"+second)
	s.want(400, "ann", "PUT", corePath, `{"content":"x","expected_updated_at":"2026-04-30T16:20:00"}`, "If-Match", second)
	for _, header := range []string{"If-Match", "If-None-Match"} { // null is also a precondition
		p := s.problem(400, "ann", "PUT", corePath, `{"content":"x","expected_updated_at":null}`, header, "*")
		if p.Code != "invalid_argument" || !strings.Contains(p.Detail, "several preconditions") {
			t.Errorf("null with %s = %+v", header, p)
		}
	}
	s.want(412, "ann", "DELETE", corePath, "", "If-Match", second)
	if r := s.want(200, "ann", "DELETE", corePath, "", "If-Match", "*"); !contains(r, `"deleted":true`) {
		t.Errorf("the deletion = %s", r)
	}
	s.want(412, "ann", "DELETE", corePath, "", "If-Match", "*")
	s.want(404, "ann", "GET", corePath, "")
}

// A deletion without a precondition is rejected, so that a client cannot delete a text that the
// client has not read.
func TestDeleteBlock(t *testing.T) {
	s := newService(t)
	first := s.putBlock(200, "ann", corePath, "- Prefers tea", "")
	if p := s.problem(428, "ann", "DELETE", corePath, ""); p.Hint == "" || p.Code != "invalid_argument" {
		t.Errorf("a deletion without a precondition = %+v", p)
	}
	s.want(409, "ann", "DELETE", corePath+"?expected_updated_at=2020-01-01T00:00:00Z", "")
	if r := s.want(200, "ann", "DELETE", corePath+"?expected_updated_at="+first.Updated, ""); !contains(r, `"deleted":true`) {
		t.Errorf("the deletion = %s", r)
	}
	s.want(404, "ann", "GET", corePath, "")
	if again := s.putBlock(200, "ann", corePath, "- Prefers tea", ""); again.Updated <= first.Updated || again.Revision <= first.Revision {
		t.Errorf("the block after its deletion = %+v; want a greater time and revision than %+v", again, first)
	}
}

// If the app has no blocks, the response to each request for blocks has status 404 and a hint that
// describes how to declare blocks.
func TestAppWithoutBlocks(t *testing.T) {
	s := newServiceWith(t, fstest.MapFS{"app.yaml": {Data: []byte("app: shop\n")}}, func(*tenants.Options) {})
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/api/v1/memory/blocks", ""}, {"GET", corePath, ""}, {"PUT", corePath, `{"content":"x"}`},
		{"POST", "/api/v1/memory/recall", `{"query":"tea"}`}, {"POST", "/api/v1/memory/context", `{"message":"tea"}`},
	} {
		p := s.problem(404, "ann", r.method, r.path, r.body)
		if p.Code != "not_found" || p.Hint != "declare blocks: true in the app file" || strings.Contains(p.Detail, "tool") {
			t.Errorf("%s %s = %+v", r.method, r.path, p)
		}
	}
}

func TestBlockLimits(t *testing.T) {
	s := newService(t)
	for _, content := range []string{strings.Repeat("é", 4001), strings.Repeat("- a\n", 21)} {
		body := fmt.Sprintf(`{"content":%q,"expected_updated_at":null}`, content)
		if p := s.problem(422, "ann", "PUT", corePath, body); p.Code != "too_large" || p.Store != "core" {
			t.Errorf("a text over a limit = %+v", p)
		}
	}
	s.want(404, "ann", "GET", corePath, "")
	s.putBlock(200, "ann", corePath, strings.Repeat("é", 4000), "")
	const archival = "/api/v1/memory/blocks/archival"
	s.putBlock(422, "ann", archival, strings.Repeat("x", 8001), "")
	s.putBlock(200, "ann", archival, strings.Repeat("- a\n", 2000), "")
	s.putBlock(200, "bob", corePath, strings.Repeat("- a\n\n", 20), "")
	if p := s.problem(404, "ann", "GET", "/api/v1/memory/blocks/nothing", ""); p.Code != "not_found" {
		t.Errorf("a block that is not declared = %+v", p)
	}
	if p := s.problem(404, "ann", "PUT", "/api/v1/memory/blocks/prefs", `{"content":"a store is not a block"}`); p.Hint != "the blocks of the app are: core, archival" {
		t.Errorf("a store as a block = %+v", p)
	}
}

// TestBlockDeclarations lists the blocks of an app for a caller with a user and for a caller
// without a user. The list must contain the defaults, and must have the order of the app file.
func TestBlockDeclarations(t *testing.T) {
	s := newServiceWith(t, fstest.MapFS{"app.yaml": {Data: []byte("app: shop\nblocks: {shared: true, language: french, style: {characters: 9, description: How to write}}\n")}},
		func(*tenants.Options) {})
	for _, who := range []string{"operator", "runtime", "ann"} {
		r := s.want(200, who, "GET", "/api/v1/memory/declarations", "")
		want := `{"blocks":[{"block_type":"core","use":"context","characters":4000,"entries":20,"language":"french","shared":true},` +
			`{"block_type":"archival","use":"recall","characters":8000,"entries":null,"language":"french","shared":true},` +
			`{"block_type":"style","description":"How to write","use":"context","characters":9,"entries":20,"language":"french","shared":true}]}`
		if got := strings.TrimSpace(string(r.body)); got != want {
			t.Errorf("the declarations for %s = %s; want %s", who, got, want)
		}
	}
	none := newServiceWith(t, fstest.MapFS{"app.yaml": {Data: []byte("app: shop\n")}}, func(*tenants.Options) {})
	if r := none.want(200, "ann", "GET", "/api/v1/memory/declarations", ""); strings.TrimSpace(string(r.body)) != `{"blocks":[]}` {
		t.Errorf("the declarations of an app without blocks = %s", r)
	}
}

func TestBlockScopes(t *testing.T) {
	s := newService(t)
	const agent = "?scope=agent&agent_id=agent_emails"
	s.putBlock(200, "ann", corePath, "- of the user", "")
	b := s.putBlock(200, "ann", corePath+agent, "- of the agent", "")
	if b.Scope != "agent" || b.Agent == nil || *b.Agent != "agent_emails" {
		t.Errorf("the block of the agent = %+v", b)
	}
	s.putBlock(200, "ann", corePath+"?agent_id=agent_records", "- of another agent", "")
	if r := s.want(200, "ann", "GET", corePath, ""); !contains(r, "- of the user") || !contains(r, `"agent_id":null`) {
		t.Errorf("the block of the user = %s", r)
	}
	if r := s.want(200, "ann", "GET", corePath+agent, ""); !contains(r, "- of the agent") {
		t.Errorf("the block of the agent = %s", r)
	}
	for query, want := range map[string]string{
		"": "user/core", "?scope=user": "user/core", agent: "agent agent_emails/core", "?agent_id=agent_records": "agent agent_records/core",
		"?scope=all":                       "user/core, agent agent_emails/core, agent agent_records/core",
		"?scope=all&agent_id=agent_emails": "user/core, agent agent_emails/core", "?agent_id=none": "",
	} {
		if got := strings.Join(s.blocks("ann", query), ", "); got != want {
			t.Errorf("the blocks%s = %s; want %s", query, got, want)
		}
	}
	if r := s.want(200, "bob", "GET", "/api/v1/memory/blocks?scope=all", ""); string(r.body) != `{"blocks":[]}`+"\n" {
		t.Errorf("the blocks of another user = %s", r)
	}
	for _, query := range []string{"?scope=agent", "?scope=user&agent_id=a"} {
		for _, path := range []string{corePath, "/api/v1/memory/blocks"} {
			if p := s.problem(400, "ann", "GET", path+query, ""); !strings.Contains(p.Hint, "agent_id") {
				t.Errorf("%s%s = %+v", path, query, p)
			}
		}
	}
}

// A request with an API key must contain the user of the requested block. A user's token gives
// access only to the blocks of this user.
func TestBlocksOfUsers(t *testing.T) {
	s := newService(t)
	s.putBlock(200, "ann", corePath, "- only ann", "")
	for _, who := range []string{"operator", "runtime"} {
		if r := s.want(200, who, "GET", corePath+"?user_id=ann", ""); !contains(r, "only ann") {
			t.Errorf("the block of ann for %s = %s", who, r)
		}
		for method, body := range map[string]string{"GET": "", "PUT": `{"content":"x"}`} {
			if p := s.problem(400, who, method, corePath, body); p.Code != "no_user" || !strings.Contains(p.Hint, "user_id") {
				t.Errorf("%s of no user = %+v", method, p)
			}
		}
		if p := s.problem(400, who, "GET", "/api/v1/memory/blocks", ""); p.Code != "no_user" {
			t.Errorf("the blocks of no user = %+v", p)
		}
	}
	for _, r := range []reply{
		s.ask("bob", "GET", corePath+"?user_id=ann", ""), s.ask("bob", "PUT", corePath+"?user_id=ann", `{"content":"x"}`),
		s.ask("bob", "GET", "/api/v1/memory/blocks?user_id=ann", ""), s.ask("bob", "DELETE", corePath+"?user_id=ann", "", "If-Match", "*"),
		s.ask("read-only", "GET", corePath+"?user_id=ann", ""),
	} {
		if r.StatusCode != 403 || contains(r, "only ann") {
			t.Errorf("a request for the memory of ann = %s; want 403", r)
		}
	}
	s.want(200, "claimed", "GET", corePath, "")
	s.want(404, "operator", "GET", "/api/v1/sessions/claimed", "") // a read does not start the session
	s.want(201, "operator", "POST", "/api/v1/sessions", `{"session_id":"claimed","user_id":"ann"}`)
	s.want(200, "operator", "DELETE", "/api/v1/sessions/claimed", "")
	if p := s.problem(410, "claimed", "GET", corePath, ""); p.Code != "session_ended" {
		t.Errorf("a read after the end of the session = %+v", p)
	}
	if r := s.want(200, "operator", "GET", "/api/v1/ledger?user_id=ann&store=core", ""); !contains(r, `"actor":"ann"`) || !contains(r, `"op":"set"`) {
		t.Errorf("the ledger = %s; want the write of ann", r)
	}
	s.want(200, "operator", "DELETE", "/api/v1/users/ann", "")
	s.want(404, "operator", "GET", corePath+"?user_id=ann", "")
}

// A tool uses the blocks of the agent that the request contains.
func TestAgentOfRun(t *testing.T) {
	s := newService(t)
	s.putBlock(200, "ann", corePath+"?agent_id=agent_emails", "- Signs as A.", "")
	if r := s.want(200, "ann", "POST", "/api/v1/runs", `{"tool":"style","agent_id":"agent_emails"}`); !contains(r, `"output":"- Signs as A."`) {
		t.Errorf("a run with an agent = %s; want its block", r)
	}
	if r := s.want(200, "ann", "POST", "/api/v1/runs", `{"tool":"style"}`); !contains(r, `"code":"no_agent"`) {
		t.Errorf("a run without an agent = %s; want no_agent", r)
	}
	if p := s.problem(400, "ann", "POST", "/api/v1/runs", `{"tool":"style","agent_id":"a\u0000b"}`); p.Code != "invalid_argument" {
		t.Errorf("a malformed agent = %+v", p)
	}
}

// An MCP client acts for the agent whose id is in the query of the URL.
func TestAgentOverMCP(t *testing.T) {
	s := newService(t)
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp?agent_id=agent_emails", nil)
	r.Header.Set("Authorization", "Bearer ann")
	admitted, err := s.api.Access().Admit(r, auth.Run)
	if err != nil {
		t.Fatal(err)
	}
	defer admitted.Release()
	if admitted.Caller.Agent != "agent_emails" || admitted.Caller.User != "ann" {
		t.Errorf("the caller is %+v", admitted.Caller)
	}
}
