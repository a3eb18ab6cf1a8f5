package httpapi_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// TestSeedRecall stores the documented entries and sends the documented search unchanged.
func TestSeedRecall(t *testing.T) {
	s, page := frozenService(t), memoryPage(t)
	search := samples(t, page)[5]
	s.putBlock(200, "ann", "/api/v1/memory/blocks/archival", entriesAfter(t, page, "Good archival entries:"), "")
	s.putBlock(200, "ann", "/api/v1/memory/blocks/archival?agent_id=agent_records", "- The renewal of Initech is due in June.", "")
	s.putBlock(200, "bob", "/api/v1/memory/blocks/archival", "- Acme renewal of bob", "")
	var found apitypes.Recalled
	s.want(200, "ann", search.method, search.path, search.body).into(t, &found)
	if len(found.Results) != 2 {
		t.Fatalf("the search = %+v; want the lines of the user and of the agent", found)
	}
	first, second := found.Results[0], found.Results[1]
	if first.Content != "Acme renewal: CFO wants pricing options before the May 12 exec review." || first.Line != 1 || first.Scope != "user" || first.Type != "archival" || first.Agent != nil {
		t.Errorf("the first line = %+v", first)
	}
	if second.Scope != "agent" || second.Agent == nil || *second.Agent != "agent_records" || second.Score >= first.Score || first.Score > 1 || second.Score <= 0 {
		t.Errorf("the second line = %+v after %+v", second, first)
	}
}

// TestSeedMemoryPolicy uses the documented policy unchanged. The documented policy contains the
// default values.
func TestSeedMemoryPolicy(t *testing.T) {
	s, page := frozenService(t), memoryPage(t)
	_, rest, _ := strings.Cut(page, "per-run control:\n")
	policy := firstObject(t, rest)
	s.putBlock(200, "ann", corePath, "- Prefers tea", "")
	s.putBlock(200, "ann", corePath+"?agent_id=agent_records", "- Sorts by date", "")
	s.putBlock(200, "ann", "/api/v1/memory/blocks/archival", "- Acme renewal: in May", "")
	request := func(members string) (c apitypes.MemoryContext) {
		t.Helper()
		body := `{"message":"Acme renewal?","agent_id":"agent_records",` + members + "}"
		s.want(200, "ann", "POST", "/api/v1/memory/context", body).into(t, &c)
		return c
	}
	members := strings.TrimSuffix(strings.TrimPrefix(policy, "{"), "}")
	documented, byDefault := request(members), request(`"memory_policy":{}`)
	if documented.UserMemory != byDefault.UserMemory || len(documented.SystemReminders) != 0 || len(byDefault.SystemReminders) != 0 {
		t.Errorf("the documented policy = %+v; want the default %+v", documented, byDefault)
	}
	if !strings.Contains(documented.UserMemory, "Prefers tea") || !strings.Contains(documented.UserMemory, "Sorts by date") || strings.Contains(documented.UserMemory, "Acme") {
		t.Errorf("the memory for a prompt = %q; want both blocks core", documented.UserMemory)
	}
	if auto := request(strings.Replace(members, "tool_only", "auto", 1)); !strings.Contains(strings.Join(auto.SystemReminders, "\n"), "Acme renewal: in May") {
		t.Errorf("with the archival mode auto, the reminders are %q", auto.SystemReminders)
	}
	without := strings.Replace(strings.Replace(members, `"include_user_core": true`, `"include_user_core": false`, 1), "tool_only", "off", 1)
	if off := request(without); strings.Contains(off.UserMemory, "Prefers tea") || !strings.Contains(off.UserMemory, "Sorts by date") || len(off.SystemReminders) != 0 {
		t.Errorf("without the blocks of the user, the memory is %+v", off)
	}
	s.want(422, "ann", "POST", "/api/v1/memory/context", strings.Replace(policy, "tool_only", "sometimes", 1))
}

// A request with an API key contains the user whose memory is searched. A user's token gives access
// only to the memory of this user.
func TestRecallOfUsers(t *testing.T) {
	s := newService(t)
	s.putBlock(200, "ann", "/api/v1/memory/blocks/archival", "- only ann", "")
	for path, body := range map[string]string{"recall": `{"query":"ann"}`, "context": `{"message":"ann","memory_policy":{"archival_mode":"auto"}}`} {
		if r := s.want(200, "runtime", "POST", "/api/v1/memory/"+path, strings.Replace(body, "{", `{"user_id":"ann",`, 1)); !contains(r, "only ann") {
			t.Errorf("%s for ann = %s", path, r)
		}
		if p := s.problem(400, "runtime", "POST", "/api/v1/memory/"+path, body); p.Code != "no_user" || !strings.Contains(p.Hint, "user_id") {
			t.Errorf("%s of no user = %+v", path, p)
		}
		if r := s.ask("bob", "POST", "/api/v1/memory/"+path, strings.Replace(body, "{", `{"user_id":"ann",`, 1)); r.StatusCode != 403 || contains(r, "only ann") {
			t.Errorf("%s of bob for ann = %s; want 403", path, r)
		}
		if r := s.want(200, "bob", "POST", "/api/v1/memory/"+path, body); contains(r, "only ann") {
			t.Errorf("%s for bob = %s", path, r)
		}
	}
}
