package httpapi_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

const turnsPath = "/api/v1/agents/Concierge/turns"

// turn performs a turn and returns its result.
func (s *service) turn(who, body string, headers ...string) (t report.Turn) {
	s.t.Helper()
	s.want(200, who, "POST", turnsPath, body, headers...).into(s.t, &t)
	return t
}

func TestConversation(t *testing.T) {
	s := newService(t)
	var agents apitypes.List[apitypes.Agent]
	s.want(200, "ann", "GET", "/api/v1/agents", "").into(t, &agents)
	if len(agents.Items) != 1 || agents.Items[0].Name != "Concierge" || strings.Join(agents.Items[0].Tools, " ") != "fail remember" {
		t.Errorf("the agents are %+v; want Concierge with its tools", agents.Items)
	}
	first := s.turn("ann", `{}`)
	if !first.OK || first.Session == "" || strings.Join(first.Messages, "") != "Which language?" || first.Injected["user.language"] != "en" {
		t.Fatalf("the first turn = %+v; want the question, in a new session", first)
	}
	in := `"session_id":"` + first.Session + `"`
	second := s.turn("ann", `{"message":"fr",`+in+`}`)
	if strings.Join(second.Messages, "") != "I remember fr." || !second.Done {
		t.Errorf("the second turn = %+v; want that it is done", second)
	}
	if r := s.want(200, "operator", "GET", "/api/v1/facts/user.language?user_id=ann", ""); !contains(r, `"value":"fr"`) {
		t.Errorf("the fact = %s; want fr", r)
	}
	if r := s.want(200, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", ""); !contains(r, `"language":"fr"`) {
		t.Errorf("the record of the tool = %s; want fr", r)
	}
}

func TestUnknownAgent(t *testing.T) {
	s := newService(t)
	for path, body := range map[string]string{"turns": `{}`, "events": `{"event":"session:start"}`, "checks": `{}`, "triggers": `{}`} {
		if r := s.ask("ann", "POST", "/api/v1/agents/Missing/"+path, body); r.StatusCode != 404 || !contains(r, `"code":"not_found"`) {
			t.Errorf("%s of an unknown agent = %s; want 404", path, r)
		}
	}
}

// A failed turn stores nothing, and the result of the turn contains the fault.
func TestFailedTurn(t *testing.T) {
	s := newService(t)
	first := s.turn("runtime", `{"session_id":"s1","user_id":"ann"}`)
	failed := s.turn("runtime", `{"message":"zz","session_id":"s1","user_id":"ann"}`)
	if failed.OK || failed.Error == nil || failed.Error.Code != "tool_error" || failed.TurnID == first.TurnID {
		t.Errorf("a failed turn = %+v; want the fault of the tool", failed)
	}
	r := s.want(200, "operator", "GET", "/api/v1/facts?user_id=ann", "")
	if !contains(r, `"items":[]`) {
		t.Errorf("a failed turn stores the facts %s", r)
	}
	again := s.turn("runtime", `{"message":"de","session_id":"s1","user_id":"ann"}`)
	if !again.Done {
		t.Errorf("the turn after a failed one = %+v; want that the conversation continues", again)
	}
}

func TestTurnIsIdempotent(t *testing.T) {
	s := newService(t)
	s.turn("runtime", `{"session_id":"s1","user_id":"ann"}`)
	const body = `{"message":"fr","session_id":"s1","user_id":"ann"}`
	first, again := s.turn("runtime", body, "Idempotency-Key", "k"), s.turn("runtime", body, "Idempotency-Key", "k")
	if first.Repeated || !again.Repeated || again.TurnID != first.TurnID || strings.Join(again.Messages, "") != "I remember fr." {
		t.Errorf("a repeated turn = %+v; want the result of the first", again)
	}
	r := s.ask("runtime", "POST", turnsPath, `{"message":"de","session_id":"s1","user_id":"ann"}`, "Idempotency-Key", "k")
	if r.StatusCode != 409 {
		t.Errorf("another turn with the same key = %s; want 409", r)
	}
}

// The result of a dry run contains the records that the run would store, so a dry run requires the
// permission to read records.
func TestDryTurn(t *testing.T) {
	s := newService(t)
	if r := s.ask("ann", "POST", turnsPath, `{"dry_run":true}`); r.StatusCode != 403 {
		t.Errorf("a dry turn of a user = %s; want 403", r)
	}
	if dry := s.turn("operator", `{"dry_run":true,"session_id":"s1","user_id":"ann"}`); len(dry.Changes) == 0 {
		t.Errorf("a dry turn = %+v; want its changes", dry)
	}
	s.want(404, "operator", "GET", "/api/v1/sessions/s1?user_id=ann", "")
}

// Users cannot set variables, because triggers could store the variables. Users also cannot set the
// other fields that are reserved for the platform.
func TestUsersCannotSetVariables(t *testing.T) {
	s := newService(t)
	for path, body := range map[string]string{
		"events": `{"event":"session:start","variables":{}}`, "checks": `{"variables":{"language":"xx"}}`, "triggers": `{"variables":{"language":"it"}}`,
	} {
		r := s.ask("ann", "POST", "/api/v1/agents/Concierge/"+path, body)
		if r.StatusCode != 403 || !contains(r, "user credentials cannot set variables") {
			t.Errorf("%s with variables of a user = %s; want 403", path, r)
		}
	}
	if r := s.ask("ann", "POST", turnsPath, `{"session_reference":"call-1"}`); r.StatusCode != 403 {
		t.Errorf("a reference of a user = %s; want 403", r)
	}
}

func TestRulesOfAgent(t *testing.T) {
	s := newService(t)
	rules := func(path, body string) (e report.Evaluation) {
		s.want(200, "runtime", "POST", "/api/v1/agents/Concierge/"+path, body).into(t, &e)
		return e
	}
	const in = `"session_id":"s1","user_id":"ann"`
	if e := rules("triggers", `{"variables":{"language":"it"},`+in+`}`); e.Stored["user.language"] != "it" {
		t.Errorf("triggers = %+v; want the stored fact", e)
	}
	if e := rules("events", `{"event":"session:start",`+in+`}`); e.Injected["user.language"] != "it" {
		t.Errorf("events = %+v; want the fact", e)
	}
	e := rules("checks", `{"before":"calling fail","variables":{"language":"xx","secret":"s3cret"},`+in+`}`)
	if !e.Blocked || len(e.Failures) != 1 || e.Failures[0].Message != "No language is called xx." {
		t.Errorf("checks = %+v; want the failure", e)
	}
	if e := rules("checks", `{"before":"calling fail","variables":{"language":"it"},`+in+`}`); e.Blocked {
		t.Errorf("checks = %+v; want no failure", e)
	}
	if e := rules("checks", `{"before":"calling fail","message":"yy","variables":{"language":"it"},`+in+`}`); !e.Blocked {
		t.Errorf("checks = %+v; want a failure because of the message", e)
	}
	if r := s.ask("runtime", "POST", "/api/v1/agents/Concierge/checks", `{"before":"lunch",`+in+`}`); r.StatusCode != 422 {
		t.Errorf("an unknown checkpoint = %s; want 422", r)
	}
}
