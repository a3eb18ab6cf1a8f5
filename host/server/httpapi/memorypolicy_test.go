package httpapi_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// TestMemoryPolicyOfTurns checks the prompts of a turn and of a preview. The prompts must contain
// the blocks that the policy of the request selects.
func TestMemoryPolicyOfTurns(t *testing.T) {
	s, server := newAdvisor(t)
	s.putBlock(200, "ann", corePath, "- Prefers tea", "")
	s.putBlock(200, "ann", corePath+"?agent_id=Advisor", "- Answers in one line", "")
	s.putBlock(200, "ann", "/api/v1/memory/blocks/archival", "- Acme renewal: in May", "")
	s.putBlock(200, "bob", corePath, "- Only bob", "")
	for _, tt := range []struct{ policy, with, without string }{
		{``, "Prefers tea,Answers in one line", "Acme renewal: in May,Only bob"},
		{`"memory_policy":{},`, "Prefers tea,Answers in one line", "Acme renewal: in May"},
		{`"memory_policy":{"archival_mode":"auto"},`, "Prefers tea,Answers in one line,Acme renewal: in May", "Only bob"},
		{`"memory_policy":{"archival_mode":"auto","archival_min_score":1},`, "Prefers tea", "Acme renewal: in May"},
		{`"memory_policy":{"include_user_core":false},`, "Answers in one line", "Prefers tea"},
		{`"memory_policy":{"include_agent_core":false},`, "Prefers tea", "Answers in one line"},
	} {
		body := `{` + tt.policy + `"message":"When is the Acme renewal due?","user_id":"ann"}`
		var p report.Preview
		s.want(200, "operator", "POST", "/api/v1/agents/Advisor/preview", body).into(t, &p)
		before := len(server.Requests())
		turn := s.want(200, "runtime", "POST", "/api/v1/agents/Advisor/turns", body)
		sent := server.Requests()[before:]
		if p.Prompt == nil || len(sent) != 1 {
			t.Fatalf("with %s: the preview is %+v, and the turn = %s sends %d requests", tt.policy, p, turn, len(sent))
		}
		for what, text := range map[string]string{"the preview": string(p.Prompt.Request), "the request of the turn": string(sent[0].Body)} {
			for _, want := range strings.Split(tt.with, ",") {
				if !strings.Contains(text, want) {
					t.Errorf("with %s: %s has no %q: %s", tt.policy, what, want, text)
				}
			}
			for _, unwanted := range strings.Split(tt.without, ",") {
				if strings.Contains(text, unwanted) {
					t.Errorf("with %s: %s has %q: %s", tt.policy, what, unwanted, text)
				}
			}
		}
	}
	if r := s.ask("ann", "POST", "/api/v1/agents/Advisor/turns", `{"memory_policy":{"archival_mode":"never"}}`); r.StatusCode != 422 {
		t.Errorf("an unknown mode = %s; want 422", r)
	}
	if r := s.ask("ann", "POST", "/api/v1/agents/Advisor/turns", `{"memory_policy":{"mode":"auto"}}`); r.StatusCode != 422 {
		t.Errorf("an unknown member = %s; want 422", r)
	}
}

// TestMemoryPolicyOfPrompts checks that rendered prompts contain the blocks that the policy
// selects.
func TestMemoryPolicyOfPrompts(t *testing.T) {
	s, _ := newAdvisor(t)
	s.putBlock(200, "ann", corePath, "- Prefers tea", "")
	s.putBlock(200, "ann", corePath+"?agent_id=Advisor", "- Answers in one line", "")
	s.putBlock(200, "ann", "/api/v1/memory/blocks/archival", "- Acme renewal: in May", "")
	render := func(members string) (r apitypes.Rendered) {
		t.Helper()
		s.want(200, "ann", "POST", "/api/v1/prompts/memo/render", "{"+members+"}").into(t, &r)
		return r
	}
	if r := render(""); !strings.Contains(r.Text, "Prefers tea") || strings.Contains(r.Text, "one line") || len(r.SystemReminders) != 0 {
		t.Errorf("without an agent = %+v", r)
	}
	r := render(`"agent_id":"Advisor","message":"Acme renewal?","memory_policy":{"archival_mode":"auto","include_user_core":false}`)
	if strings.Contains(r.Text, "Prefers tea") || !strings.Contains(r.Text, "one line") || strings.Join(r.SystemReminders, "") != "Acme renewal: in May" {
		t.Errorf("with an agent and a policy = %+v", r)
	}
}
