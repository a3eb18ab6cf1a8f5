package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// metaOf returns the metadata and the references of a session, as an operator reads them.
func metaOf(s *service, session string) string {
	return string(s.want(200, "operator", "GET", "/api/v1/sessions/"+session, "").body)
}

// End users must not set fields that only the platform may set.
func TestUsersCannotSetPlatformFields(t *testing.T) {
	s := newService(t)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"p1","user_id":"ann","metadata":{"tier":"basic"},"session_reference":"call-1"}`)
	before := metaOf(s, "p1")
	members := map[string]string{
		"env": `{"TIER":"9"}`, "context": `{"steps":{"a":{"output":1}},"message":"forged"}`, "session_reference": `"forged"`,
		"user_reference": `"ceo"`, "metadata": `{"isAdmin":true}`,
	}
	for name, value := range members {
		hint := name
		if name == "metadata" {
			hint = "metadata.isAdmin"
		}
		for _, path := range []string{"/runs", "/runs/stream", "/sessions/p1/runs", "/sessions/p1/runs/stream", "/sessions"} {
			if path == "/sessions" && (name == "env" || name == "context") {
				continue
			}
			members := `"` + name + `":` + value
			if strings.HasSuffix(path, "/runs") || strings.HasSuffix(path, "/stream") {
				members += `,"tool":"look"`
			}
			if !strings.Contains(path, "p1") {
				members += `,"session_id":"p1"`
			}
			r := s.ask("ann", "POST", "/api/v1"+path, "{"+members+"}")
			if outcome(r) != 403 || !contains(r, `"code":"access_denied"`) || !contains(r, hint) {
				t.Errorf("POST %s with %s = %s; want 403 that names %s", path, name, r, hint)
			}
		}
	}
	if r := s.ask("ann", "PATCH", "/api/v1/sessions/p1/metadata", `{"tier":"premium"}`); r.StatusCode != 403 || !contains(r, "metadata.tier") {
		t.Errorf("PATCH metadata = %s; want 403 that names metadata.tier", r)
	}
	if after := metaOf(s, "p1"); sessionData(t, after) != sessionData(t, before) {
		t.Errorf("rejected requests changed the session from %s to %s", before, after)
	}
	s.want(200, "ann", "POST", "/api/v1/runs", `{"tool":"look","session_id":"p1","message":"hello","context":null}`)
	s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","session_id":"p1","env":{"A":"1"},"context":{"a":1},"metadata":{"tier":"gold"}}`)
}

// sessionData describes a session without the time of its last use.
func sessionData(t *testing.T, text string) string {
	t.Helper()
	var data struct {
		User, Reference string
		Metadata        map[string]any
	}
	reply{body: []byte(text)}.into(t, &data)
	return fmt.Sprint(data)
}

// The function foreign lists sessions that do not belong to bob: an anonymous session, a session of
// ann, a session that has ended, and a session that does not exist.
func foreign(s *service) []string {
	s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","session_id":"visitor","metadata":{"name":"VISITOR-SECRET"}}`)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"of-ann","user_id":"ann"}`)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"over","user_id":"ann"}`)
	s.want(200, "runtime", "DELETE", "/api/v1/sessions/over", "")
	return []string{"visitor", "of-ann", "over", "none"}
}

// End users can neither take over a session nor choose the id of a new session. The error does not
// reveal whether the session exists.
func TestUsersCannotTakeOverSessions(t *testing.T) {
	s := newService(t)
	ids := foreign(s)
	text, contentType := form("notes.txt", "text/plain", "mine")
	for _, call := range []struct{ method, path, body string }{
		{"POST", "/sessions", `{"session_id":"ID"}`},
		{"POST", "/runs", `{"tool":"look","session_id":"ID"}`},
		// The next request has no timeout_ms, because timeout_ms would include the compilation.
		{"POST", "/runs", `{"tool":"wait","session_id":"ID"}`},
		{"POST", "/runs/stream", `{"tool":"look","session_id":"ID"}`},
		{"POST", "/sessions/ID/runs", `{"tool":"look"}`},
		{"POST", "/sessions/ID/runs/stream", `{"tool":"look"}`},
		{"POST", "/sessions/ID/files", "file"},
		{"GET", "/sessions/ID/files", ""},
		{"GET", "/sessions/ID/files/file_1", ""},
		{"PATCH", "/sessions/ID/files/file_1", `{"is_active":false}`},
		{"DELETE", "/sessions/ID/files/file_1", ""},
		{"GET", "/sessions/ID", ""},
		{"PATCH", "/sessions/ID/metadata", `{}`},
		{"DELETE", "/sessions/ID", ""},
		{"POST", "/prompts/greeting/render", `{"session_id":"ID"}`},
	} {
		answers := map[string]string{}
		for _, id := range ids {
			body, media := strings.ReplaceAll(call.body, "ID", id), "application/json"
			if call.body == "file" {
				body, media = text, contentType
			}
			r := s.ask("bob", call.method, "/api/v1"+strings.ReplaceAll(call.path, "ID", id), body, "Content-Type", media)
			if outcome(r) != 403 || contains(r, "SECRET") {
				t.Errorf("%s %s of %q as bob = %s; want 403", call.method, call.path, id, r)
			}
			var p struct{ Code, Detail, Hint string }
			if r.Header.Get("Content-Type") == "application/problem+json" {
				r.into(t, &p)
			}
			answers[p.Code+p.Detail+p.Hint] = id
		}
		if len(answers) > 1 {
			t.Errorf("%s %s reveals which sessions exist: %v", call.method, call.path, answers)
		}
	}
	if r := s.ask("operator", "GET", "/api/v1/sessions/none", ""); r.StatusCode != 404 {
		t.Errorf("a rejected request started a session: %s", r)
	}
	s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","session_id":"visitor"}`) // the session still belongs to the visitor
}

// If the host creates the id of a session, the session belongs to the user.
func TestUsersStartSessionsWithNewIDs(t *testing.T) {
	s := newService(t)
	var session struct {
		ID string `json:"session_id"`
	}
	s.want(201, "bob", "POST", "/api/v1/sessions", `{}`).into(t, &session)
	s.want(200, "bob", "POST", "/api/v1/runs", `{"tool":"look","session_id":"`+session.ID+`"}`)
	s.want(201, "bob", "POST", "/api/v1/sessions", `{"session_id":"`+session.ID+`"}`)
	s.want(200, "bob", "DELETE", "/api/v1/sessions/"+session.ID, "")
	s.want(200, "bob", "DELETE", "/api/v1/sessions/"+session.ID, "") // a retry
	s.want(410, "bob", "POST", "/api/v1/runs", `{"tool":"look","session_id":"`+session.ID+`"}`)
}

// If a request with a key contains a user and an anonymous session, the request binds the session
// to the user. If the request contains no user, the request acts for the user of the session.
func TestKeysActForSessionUser(t *testing.T) {
	s := newService(t)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"s1"}`)
	s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","session_id":"s1","user_id":"ann"}`)
	r := s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","session_id":"s1"}`)
	if !contains(r, `"userId":"ann"`) {
		t.Errorf("a run without user_id = %s; want ann's", r)
	}
	s.want(200, "runtime", "PATCH", "/api/v1/sessions/s1/metadata", `{"a":1}`)
	text, contentType := form("notes.txt", "text/plain", "mine")
	s.want(201, "runtime", "POST", "/api/v1/sessions/s1/files", text, "Content-Type", contentType)
	s.want(200, "runtime", "POST", "/api/v1/prompts/greeting/render", `{"session_id":"s1"}`)
	s.want(403, "runtime", "PATCH", "/api/v1/sessions/s1/metadata?user_id=bob", `{"a":1}`)
	s.want(200, "runtime", "DELETE", "/api/v1/sessions/s1", "")
}

// In the path of a URL, an id such as ".." would be removed, and the request would address a
// different resource.
func TestSessionIDsAreBounded(t *testing.T) {
	s := newService(t)
	for _, id := range []string{"..", ".", "a/b", "<script>", "a b", "ä", strings.Repeat("a", 129), "%2e"} {
		body := `{"session_id":"` + id + `"}`
		if r := s.ask("runtime", "POST", "/api/v1/sessions", body); r.StatusCode != 400 && r.StatusCode != 422 {
			t.Errorf("a session %q = %s; want it rejected", id, r)
		}
		r := s.ask("runtime", "POST", "/api/v1/runs", `{"tool":"look",`+body[1:])
		if r.StatusCode != 400 && r.StatusCode != 422 {
			t.Errorf("a run in the session %q = %s; want it rejected", id, r)
		}
	}
	if r := s.ask("runtime", "POST", "/api/v1/sessions", `{"session_id":"a/b"}`); !contains(r, "._~:@=+-") {
		t.Errorf("the error = %s; want the rule", r)
	}
	for _, user := range []string{".", ".."} {
		if r := s.ask("runtime", "POST", "/api/v1/sessions", `{"user_id":"`+user+`"}`); r.StatusCode != 400 {
			t.Errorf("a user %q = %s; want 400", user, r)
		}
	}
	for _, id := range []string{"sess_123", "a.b~c:d@e=f+g-h", "...x", strings.Repeat("a", 128)} {
		s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"`+id+`","user_id":"auth0|a@b.example"}`)
		s.want(200, "runtime", "GET", "/api/v1/sessions/"+url.PathEscape(id), "")
	}
}

// Lists are paged.
func TestRecordsHavePages(t *testing.T) {
	s := newService(t)
	const records = 1010
	for i := range records {
		s.want(200, "operator", "PUT", fmt.Sprintf("/api/v1/stores/prefs/record?user_id=u%d", i), `{"visits":1}`)
	}
	seen := map[string]bool{}
	for after, pages := "", 0; ; pages++ {
		var page struct {
			Items []struct {
				User string `json:"user_id"`
			}
			Next string
		}
		s.want(200, "operator", "GET", "/api/v1/stores/prefs/records?limit=400&after="+after, "").into(t, &page)
		for _, item := range page.Items {
			if seen[item.User] {
				t.Fatalf("%s comes twice", item.User)
			}
			seen[item.User] = true
		}
		if after = page.Next; after == "" || pages > records {
			break
		}
	}
	if len(seen) != records {
		t.Errorf("the pages hold %d records; want %d", len(seen), records)
	}
	s.want(400, "operator", "GET", "/api/v1/stores/prefs/records?after=nonsense!", "")
}

// After a session has ended, lists still show the user of the session until the user is erased.
func TestEndedSessionsKeepTheirUser(t *testing.T) {
	s := newService(t)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"s1","user_id":"ann"}`)
	s.want(200, "runtime", "DELETE", "/api/v1/sessions/s1", "")
	if r := s.want(200, "operator", "GET", "/api/v1/sessions", ""); !contains(r, `"user_id":"ann"`) {
		t.Errorf("the list = %s; want that the session was ann's", r)
	}
	if r := s.want(200, "operator", "GET", "/api/v1/sessions?user_id=ann", ""); contains(r, "s1") {
		t.Errorf("ann's sessions = %s; want open ones", r)
	}
	s.want(200, "operator", "DELETE", "/api/v1/users/ann", "")
	if r := s.want(200, "operator", "GET", "/api/v1/sessions", ""); contains(r, `ann`) {
		t.Errorf("after an erasure the list = %s; want no user", r)
	}
}

// An erasure removes the ids of all sessions of the user from the ledger. The erasure includes
// sessions that were anonymous at the time of a run, and sessions that have ended.
func TestErasureRemovesSessionsFromLedger(t *testing.T) {
	s := newService(t)
	for _, id := range []string{"visit-1", "visit-2"} {
		s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","session_id":"`+id+`"}`)
		s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"`+id+`","user_id":"ann"}`)
	}
	s.want(200, "runtime", "DELETE", "/api/v1/sessions/visit-2", "")
	s.want(200, "operator", "DELETE", "/api/v1/users/ann", "")
	if r := s.want(200, "operator", "GET", "/api/v1/ledger", ""); contains(r, "visit-") {
		t.Errorf("the ledger = %s; want no session of ann's", r)
	}
}

// The description of a file that a tool reads contains no id of the tenant, the app or the user.
func TestArtifactsContainNoIDs(t *testing.T) {
	s := newService(t)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"s","user_id":"ann-the-user"}`)
	text, contentType := form("notes.txt", "text/plain", "mine")
	var f apitypes.File
	s.want(201, "runtime", "POST", "/api/v1/sessions/s/files?user_id=ann-the-user", text, "Content-Type", contentType).into(t, &f)
	var result struct {
		Output struct {
			Meta struct{ Artifacts []json.RawMessage }
		}
	}
	s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"look","session_id":"s","user_id":"ann-the-user"}`).into(t, &result)
	if n := len(result.Output.Meta.Artifacts); n != 1 {
		t.Fatalf("the tool sees %d files; want one", n)
	}
	artifact := result.Output.Meta.Artifacts[0]
	if !bytes.Contains(artifact, []byte(f.URL)) {
		t.Errorf("the tool sees %s; want the link %s of the API", artifact, f.URL)
	}
	decoded, err := base64.RawURLEncoding.DecodeString(f.URL[strings.LastIndex(f.URL, "/")+1:])
	if err != nil {
		t.Errorf("the link %s does not end in base64: %v", f.URL, err)
	}
	for _, name := range []string{"acme", "shop", "ann-the-user"} {
		if bytes.Contains(artifact, []byte(name)) || bytes.Contains(decoded, []byte(name)) {
			t.Errorf("the tool sees %s, which names %q", artifact, name)
		}
	}
}

// Every operator action has an entry in the ledger.
func TestOperatorActionsAreInLedger(t *testing.T) {
	s := newService(t)
	text, contentType := form("notes.txt", "text/plain", "mine")
	var f apitypes.Artifact
	s.want(201, "runtime", "POST", "/api/v1/sessions/s/files?user_id=ann", text, "Content-Type", contentType).into(t, &f)
	s.want(200, "runtime", "GET", "/api/v1/sessions/s/files/"+f.ID+"?user_id=ann", "")
	s.want(200, "operator", "GET", "/api/v1/sessions/s/files/"+f.ID, "")
	s.want(200, "operator", "GET", "/api/v1/stores/prefs/records", "")
	exported := s.want(200, "operator", "GET", "/api/v1/export", "")
	s.want(200, "operator", "POST", "/api/v1/import", string(exported.body))
	s.want(200, "operator", "DELETE", "/api/v1/users/nobody", "") // waits until the entries are written
	var page struct {
		Items []struct {
			Act, Actor string
			File       string `json:"file_id"`
			User       string `json:"user_id"`
		}
	}
	s.want(200, "operator", "GET", "/api/v1/ledger", "").into(t, &page)
	count := map[string]int{}
	for _, e := range page.Items {
		count[e.Act]++
		if e.Act == "download" && (e.Actor != "op" || e.File != f.ID || e.User != "ann") {
			t.Errorf("the download's entry = %+v; want the operator, the file and ann", e)
		}
	}
	for _, act := range []string{"download", "list", "export", "import"} {
		if count[act] != 1 {
			t.Errorf("the ledger has %d entries of %q in %v; want one", count[act], act, count)
		}
	}
}

// An operator can allow users to set some metadata keys. Users cannot set any other keys.
func TestUserMetadata(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) { o.UserMetadata = []string{"name", "locale"} })
	var session struct {
		ID string `json:"session_id"`
	}
	s.want(201, "ann", "POST", "/api/v1/sessions", `{"metadata":{"name":"Ann"}}`).into(t, &session)
	path := "/api/v1/sessions/" + session.ID
	s.want(200, "ann", "PATCH", path+"/metadata", `{"locale":"fr","name":null}`)
	s.want(200, "ann", "POST", path+"/runs", `{"tool":"look","metadata":{"locale":"de"}}`)
	for _, patch := range []string{`{"locale":"en","tier":"gold"}`, `{"Name":"A"}`, `{"name.tier":1}`, `{"":1}`} {
		if r := s.ask("ann", "PATCH", path+"/metadata", patch); r.StatusCode != 403 || !contains(r, "credentials of a user can set only the keys name, locale") {
			t.Errorf("PATCH %s = %s; want 403 that names the allowed keys", patch, r)
		}
		s.want(403, "ann", "POST", path+"/runs", `{"tool":"look","metadata":`+patch+`}`)
		s.want(403, "ann", "POST", "/api/v1/sessions", `{"metadata":`+patch+`}`)
	}
	if r := s.want(200, "ann", "GET", path, ""); !contains(r, `"metadata":{"locale":"de"}`) {
		t.Errorf("the session = %s; want the allowed keys", r)
	}
}
