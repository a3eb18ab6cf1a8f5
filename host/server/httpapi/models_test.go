package httpapi_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/tenants"
)

var advisorFiles = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: shop
blocks: true
prompts:
  memo: {template: "Memory: {{memory.user_memory}}", grants: {core: read, archival: read}}
facts:
  user.language: {type: string, default: en}
tools:
  advise: {source: advise.js, description: asks a model, models: [local]}
`)},
	"advise.js": {Data: []byte(`return (await model.chat("local", {messages: [{role: "user", content: "hello"}]})).text`)},
	"advisor.abl": {Data: []byte(`
AGENT: Advisor
GOAL: "Advise users"
MEMORY:
  persistent:
    - user.language
      DEFAULT: "en"
  recall:
    - ON: session:start
      ACTION: inject_context
      PATHS: [user.language]
FLOW:
  answer:
    REASONING: true
    MODEL: local
    GOAL: "Answer the question"
`)},
}

// newAdvisor starts a service whose tools and agents send requests to the models of a server.
func newAdvisor(t *testing.T) (*service, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start()
	t.Cleanup(server.Close)
	config, err := model.ReadConfig("models.yaml", []byte("chat:\n  local: {base_url: \""+server.URL()+"\", model: tiny}\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return newServiceWith(t, advisorFiles, func(o *tenants.Options) { o.Host.Models = set }), server
}

// TestMocksAndLive checks that only operators can replace the answers of models, and that only a
// dry run can have the option "live".
func TestMocksAndLive(t *testing.T) {
	s, server := newAdvisor(t)
	const runs, agent = "/api/v1/runs", "/api/v1/agents/Advisor/turns"
	const mocks = `"mocks":{"local":["from the mock"]}`
	for _, who := range []string{"ann", "runtime"} {
		for path, body := range map[string]string{runs: `{` + mocks + `}`, agent: `{"message":"hi",` + mocks + `}`} {
			if r := s.ask(who, "POST", path, body); r.StatusCode != 403 || !contains(r, "mocks determine") {
				t.Errorf("mocks of %s for %s = %s; want 403", who, path, r)
			}
		}
	}
	for _, body := range []string{`{` + mocks + `}`, `{"dry_run":true,` + mocks + `}`} {
		if r := s.want(200, "operator", "POST", runs, body); !contains(r, `"output":"from the mock"`) {
			t.Errorf("a run with mocks = %s; want the answer of the mock", r)
		}
	}
	if r := s.want(200, "operator", "POST", agent, `{"message":"hi","user_id":"ann","session_id":"s1",`+mocks+`}`); !contains(r, "from the mock") {
		t.Errorf("a turn with mocks = %s; want the answer of the mock", r)
	}
	if r := s.ask("operator", "POST", runs, `{"mocks":{"local":7}}`); r.StatusCode != 400 {
		t.Errorf("malformed mocks = %s; want 400", r)
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("the provider received %d requests; want none", n)
	}
	if r := s.ask("runtime", "POST", runs, `{"live":true}`); r.StatusCode != 400 || !contains(r, "dry runs") {
		t.Errorf("a live run that stores = %s; want 400", r)
	}
	if r := s.ask("operator", "POST", runs, `{"dry_run":true}`); r.StatusCode != 503 || !contains(r, `"code":"unavailable"`) {
		t.Errorf("a dry run = %s; want no answer", r)
	}
	if r := s.want(200, "operator", "POST", runs, `{"dry_run":true,"live":true}`); !contains(r, `"output":"re: hello"`) || len(server.Requests()) != 1 {
		t.Errorf("a live dry run = %s; want the answer of the model", r)
	}
}

// TestTestRuns checks that a test run calls no model, and that a test run requires the permissions
// of a dry run.
func TestTestRuns(t *testing.T) {
	s, server := newAdvisor(t)
	const runs, agent = "/api/v1/runs", "/api/v1/agents/Advisor/turns"
	if r := s.ask("operator", "POST", runs, `{"test":true}`); r.StatusCode != 503 || !contains(r, "a test run does not call models") {
		t.Errorf("a test run = %s; want unavailable", r)
	}
	const mocks = `"test":true,"mocks":{"local":["from the mock"],"recall":{"kb":[[]]}}`
	for path, body := range map[string]string{runs: `{` + mocks + `}`, agent: `{"message":"hi","user_id":"ann","session_id":"s1",` + mocks + `}`} {
		if r := s.want(200, "operator", "POST", path, body); !contains(r, "from the mock") || !contains(r, `"remembered":[]`) {
			t.Errorf("a test run at %s = %s; want the answer of the mock", path, r)
		}
	}
	s.want(404, "operator", "GET", "/api/v1/sessions/s1?user_id=ann", "")
	if n := len(server.Requests()); n != 0 {
		t.Errorf("the provider received %d requests; want none", n)
	}
	if r := s.ask("runtime", "POST", runs, `{"test":true}`); r.StatusCode != 403 {
		t.Errorf("a test run without the permission = %s; want 403", r)
	}
	for _, body := range []string{`{"test":true,"live":true}`, `{"test":true,"mocks":{"recall":{"kb":[1]}}}`} {
		if r := s.ask("operator", "POST", runs, body); r.StatusCode != 400 {
			t.Errorf("%s = %s; want 400", body, r)
		}
	}
}

// TestDeadlineOfRequest checks that a run waits for a model until the deadline of the request.
func TestDeadlineOfRequest(t *testing.T) {
	s, server := newAdvisor(t)
	release := server.Hold()
	defer release()
	if r := s.want(200, "runtime", "POST", "/api/v1/runs", `{"deadline_ms":200}`); !contains(r, `"code":"timeout"`) || !contains(r, "deadline (200ms)") {
		t.Errorf("a run until its deadline = %s; want timeout", r)
	}
}

// TestPreviewOfTurn checks that a preview contains the request to the model, including the facts
// that the agent injects. A preview must not send the request, and must not store data.
func TestPreviewOfTurn(t *testing.T) {
	s, server := newAdvisor(t)
	var p report.Preview
	const body = `{"message":"hi","user_id":"ann","session_id":"s1"}`
	s.want(200, "operator", "POST", "/api/v1/agents/Advisor/preview", body).into(t, &p)
	if !p.OK || p.Prompt == nil || p.Prompt.Model != "local" || p.Agent != "Advisor" || !strings.Contains(string(p.Prompt.Request), `user.language`) {
		t.Errorf("the preview = %+v; want the prompt %s", p, p.Prompt.Request)
	}
	s.want(404, "operator", "GET", "/api/v1/sessions/s1?user_id=ann", "")
	if n := len(server.Requests()); n != 0 {
		t.Errorf("the provider received %d requests; want none", n)
	}
	s.refused(400, abi.InvalidArgument, "operator", "POST", "/api/v1/agents/Advisor/preview", `{"message":"hi","user_id":"ann","session_id":"s1","live":true}`)
	if r := s.ask("runtime", "POST", "/api/v1/agents/Advisor/preview", body); r.StatusCode != 403 {
		t.Errorf("a preview without the permission = %s; want 403", r)
	}
	if r := s.ask("operator", "POST", "/api/v1/agents/Missing/preview", body); r.StatusCode != 404 {
		t.Errorf("a preview of an unknown agent = %s; want 404", r)
	}
}
