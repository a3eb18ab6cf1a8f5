package httpapi_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/session"
)

const metadataBody = `{
  "message": "Hello",
  "session_id": "sess_123",
  "metadata": {
    "userId": "user_456",
    "userName": "John",
    "customerTier": "premium",
    "channel": "mobile_app"
  },
  "tool": "look"
}`

// A run can have a message, a session and metadata. The tool can read the message, the session and
// the metadata. A user in the metadata has no effect.
func TestRunWithMetadata(t *testing.T) {
	s := newService(t)
	var result report.Result
	own := strings.Replace(metadataBody, "{", `{"user_id": "ann",`, 1)
	s.want(200, "runtime", "POST", "/api/v1/runs", own).into(t, &result)
	var seen struct {
		Meta struct {
			Metadata    map[string]string
			SessionInfo struct{ SessionID, UserID, AppID string }
		}
		Context struct{ Message string }
	}
	reply{body: result.Output}.into(t, &seen)
	if seen.Meta.Metadata["userName"] != "John" || seen.Meta.SessionInfo.SessionID != "sess_123" || seen.Meta.SessionInfo.UserID != "ann" ||
		seen.Meta.SessionInfo.AppID != "shop" || seen.Context.Message != "Hello" {
		t.Errorf("the tool sees %s", result.Output)
	}
	s.want(400, "runtime", "POST", "/api/v1/sessions/other/runs", own)
	s.want(200, "runtime", "POST", "/api/v1/sessions/sess_123/runs", own)
	s.want(403, "bob", "POST", "/api/v1/runs", metadataBody)
	s.want(403, "runtime", "POST", "/api/v1/runs", strings.Replace(own, `"ann"`, `"bob"`, 1))
}

// A failed run has a Result. An error that prevents a run results in a problem document.
func TestRunsThatFail(t *testing.T) {
	s := newService(t)
	var result report.Result
	s.want(200, "ann", "POST", "/api/v1/runs", `{"tool":"fail"}`).into(t, &result)
	if result.OK || result.Error.Code != abi.ToolError {
		t.Errorf("a failing tool = %+v", result)
	}
	for _, test := range []struct {
		body   string
		status int
		code   abi.Code
	}{
		{`{"tool":"nothing"}`, 404, abi.NotFound},
		{`{"tool":"remember","input":{"language":7}}`, 422, abi.InputInvalid},
		{`{"tool":"remember","input":[]}`, 422, abi.InputInvalid},
		{`{"tool":"remember","session_id":"a\u0000b"}`, 400, abi.InvalidArgument},
		{`{"tool":"remember","unknown":1}`, 422, abi.InvalidArgument},
		{`{"tool":"remember",`, 400, abi.InvalidArgument},
		{`{}`, 400, abi.InvalidArgument},
		{`{"tool":""}`, 422, abi.InvalidArgument},
		{`[]`, 422, abi.InvalidArgument},
		{`{"tool":"remember","user_id":"bob"}`, 403, abi.AccessDenied},
		{`{"tool":"remember","metadata":[1]}`, 400, abi.InvalidArgument},
	} {
		r := s.want(test.status, "ann", "POST", "/api/v1/runs", test.body)
		var p apitypes.Problem
		r.into(t, &p)
		if p.Code != string(test.code) || p.Status != test.status || r.Header.Get("Content-Type") != "application/problem+json" || p.Type == "" || p.Title == "" {
			t.Errorf("%s = %s (%s)", test.body, r, r.Header.Get("Content-Type"))
		}
	}
	s.want(415, "ann", "POST", "/api/v1/runs", `tool=remember`, "Content-Type", "application/x-www-form-urlencoded")
	s.want(404, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", "")
}

func TestRecords(t *testing.T) {
	s := newService(t)
	const path = "/api/v1/stores/prefs/record?user_id=ann"
	r := s.want(200, "operator", "PUT", path, `{"language":"fr","visits":12345678901234567890}`, "If-None-Match", "*")
	if r.Header.Get("ETag") != `"1"` {
		t.Errorf("the ETag is %s", r.Header.Get("ETag"))
	}
	s.want(412, "operator", "PUT", path, `{}`, "If-None-Match", "*")
	s.want(412, "operator", "PATCH", path, `{}`, "If-Match", `"7"`, "Content-Type", "application/merge-patch+json")
	s.want(200, "operator", "PATCH", path, `{"language":null}`, "If-Match", `"1"`, "Content-Type", "application/merge-patch+json")
	var record struct {
		Content  map[string]any
		Revision int64
	}
	r = s.want(200, "operator", "GET", path, "")
	r.into(t, &record)
	if want := `{"visits":12345678901234567890}`; record.Revision != 2 || !contains(r, want) {
		t.Errorf("the record = %s; want %s", r, want)
	}
	s.want(422, "operator", "PATCH", path, `{"visits":"many"}`, "Content-Type", "application/merge-patch+json")
	r = s.want(200, "operator", "GET", path+"&projection=%7B%22language%22%3A1%7D", "")
	if !contains(r, `"content":{}`) {
		t.Errorf("a projection = %s", r)
	}
	s.want(412, "operator", "DELETE", path, "", "If-Match", `"1"`)
	s.want(200, "operator", "DELETE", path, "", "If-Match", `"2"`)
	s.want(404, "operator", "GET", path, "")
}

func TestSessionsAndStores(t *testing.T) {
	s := newService(t, func(o *httpapi.Options) { o.UserMetadata = []string{"userName", "n", "a"} })
	var started session.Session
	s.want(201, "ann", "POST", "/api/v1/sessions", `{"metadata":{"userName":"John","n":12345678901234567890}}`).into(t, &started)
	path := "/api/v1/sessions/" + started.ID
	s.want(200, "ann", "PATCH", path+"/metadata", `{"a":1}`, "Content-Type", "application/merge-patch+json")
	s.want(403, "bob", "GET", path, "")
	s.want(403, "bob", "DELETE", path, "")
	if r := s.want(200, "ann", "GET", path, ""); !contains(r, `"n":12345678901234567890`) || !contains(r, `"a":1`) {
		t.Errorf("the session = %s", r)
	}
	if r := s.want(200, "read-only", "GET", path, ""); contains(r, "John") {
		t.Errorf("the role read-only sees the metadata: %s", r)
	}
	if r := s.want(200, "bob", "GET", "/api/v1/sessions", ""); contains(r, started.ID) {
		t.Errorf("bob sees the sessions of others: %s", r)
	}
	s.want(200, "ann", "POST", "/api/v1/prompts/greeting/render", `{"session_id":"`+started.ID+`"}`)
	s.want(200, "ann", "DELETE", path, "")
	s.want(410, "ann", "POST", path+"/runs", `{"tool":"look"}`)

	const store = `{"technical_name":"extra","access":"user","retention":"1_week","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer"}}}}`
	s.want(201, "operator", "POST", "/api/v1/stores", store)
	s.want(409, "operator", "POST", "/api/v1/stores", store)
	s.want(200, "operator", "PUT", "/api/v1/stores/extra/record?user_id=ann", `{"a":1}`)
	s.want(422, "operator", "PUT", "/api/v1/stores/extra/record?user_id=ann", `{"b":1}`)
	s.want(409, "operator", "PUT", "/api/v1/stores/extra", `{"technical_name":"extra","access":"session"}`)
	s.want(200, "operator", "PUT", "/api/v1/stores/extra", `{"technical_name":"extra","access":"user","retention":"1_day"}`)
	s.want(400, "operator", "PUT", "/api/v1/stores/extra", `{"technical_name":"other","access":"user"}`)
	s.want(409, "operator", "PUT", "/api/v1/stores/prefs", `{"technical_name":"prefs","access":"user"}`)
	s.want(400, "operator", "POST", "/api/v1/stores", `{"technical_name":"bad","access":"user","schema":{"type":7}}`)
	s.want(404, "elsewhere", "GET", "/api/v1/stores/extra", "")
	exported := s.want(200, "operator", "GET", "/api/v1/export", "")
	if r := s.want(200, "elsewhere", "POST", "/api/v1/import", string(exported.body)); !contains(r, `["extra"]`) {
		t.Errorf("the import = %s", r)
	}
	s.want(200, "elsewhere", "GET", "/api/v1/stores/extra", "")
	s.want(404, "elsewhere", "GET", "/api/v1/stores/extra/record?user_id=ann", "")
}

// TestStoreMistakes declares schemas whose constraints have no effect. The response must report the
// constraints that have no effect. The declaration of a strict store must be rejected.
func TestStoreMistakes(t *testing.T) {
	s := newService(t)
	const schema = `"schema":{"type":"object","propertys":{"a":{}},"properties":{"at":{"format":"datetime"}}}`
	r := s.want(201, "operator", "POST", "/api/v1/stores", `{"technical_name":"notes","access":"user",`+schema+`}`)
	for _, want := range []string{`{"pointer":"/propertys","message":"the key \"propertys\" is not a JSON Schema keyword`, `"hint":"did you mean \"properties\"?"`, `"pointer":"/properties/at/format"`} {
		if !contains(r, want) {
			t.Errorf("the answer has no %s: %s", want, r)
		}
	}
	r = s.want(400, "operator", "POST", "/api/v1/stores", `{"technical_name":"strictNotes","access":"user","strict":true,`+schema+`}`)
	if !contains(r, `\"propertys\" is not a JSON Schema keyword`) || !contains(r, `did you mean`) {
		t.Errorf("the error = %s", r)
	}
	s.want(404, "operator", "GET", "/api/v1/stores/strictNotes", "")
	s.want(400, "operator", "PUT", "/api/v1/stores/notes", `{"access":"user","strict":true,`+schema+`}`)
	r = s.want(200, "operator", "PUT", "/api/v1/stores/notes", `{"access":"user"}`)
	if contains(r, "mistakes") || contains(r, "unfit") || !contains(r, `"technical_name":"notes"`) {
		t.Errorf("the change = %s", r)
	}
}

// TestChangedSchema changes a schema. If a schema is changed, the response counts the records that
// violate the new schema. The response to a write reports the violations of the written record.
func TestChangedSchema(t *testing.T) {
	s := newService(t)
	s.want(201, "operator", "POST", "/api/v1/stores", `{"technical_name":"notes","access":"user"}`)
	for _, user := range []string{"ann", "bob"} {
		s.want(200, "operator", "PUT", "/api/v1/stores/notes/record?user_id="+user, `{"n":"x"}`)
	}
	s.want(200, "operator", "PUT", "/api/v1/stores/notes/record?user_id=eve", `{"n":1}`)
	const schema = `"schema":{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}}}`
	if r := s.want(200, "operator", "PUT", "/api/v1/stores/notes", `{"access":"user",`+schema+`}`); !contains(r, `"unfit":{"records":2}`) {
		t.Errorf("the change = %s", r)
	}
	const record = "/api/v1/stores/notes/record?user_id=ann"
	merge := []string{"Content-Type", "application/merge-patch+json"}
	if r := s.want(200, "operator", "PATCH", record, `{"m":1}`, merge...); !contains(r, `"violations":[{"pointer":"/n","keyword":"type","limit":"integer","existing":true}]`) {
		t.Errorf("the patch = %s", r)
	}
	if r := s.want(200, "operator", "PUT", record, `{"n":"y"}`); !contains(r, `"violations":[{"pointer":"/n"`) {
		t.Errorf("the write = %s", r)
	}
	if r := s.want(200, "operator", "PUT", record, `{"n":7}`); contains(r, "violations") {
		t.Errorf("the valid write = %s", r)
	}
	if r := s.want(200, "operator", "PUT", "/api/v1/stores/notes", `{"access":"user","strict":true,`+schema+`}`); !contains(r, `"unfit":{"records":1}`) {
		t.Errorf("the change = %s", r)
	}
	if r := s.want(422, "operator", "PATCH", "/api/v1/stores/notes/record?user_id=bob", `{"m":1}`, merge...); !contains(r, "replace the whole content") {
		t.Errorf("the patch that leaves a violation = %s", r)
	}
}

// A user can neither read, end nor use an anonymous session. A key, or a token with a session
// claim, can bind the session to the user.
func TestAnonymousSessions(t *testing.T) {
	s := newService(t)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"anon","metadata":{"phone":"555"}}`)
	s.want(403, "ann", "POST", "/api/v1/sessions/anon/runs", `{"tool":"look"}`)
	s.want(200, "runtime", "POST", "/api/v1/sessions/anon/runs", `{"tool":"look","user_id":"ann"}`)
	s.want(200, "ann", "GET", "/api/v1/sessions/anon", "")
	s.want(200, "ann", "POST", "/api/v1/sessions/anon/runs", `{"tool":"look"}`)
	s.want(403, "bob", "GET", "/api/v1/sessions/anon", "")

	s.want(403, "ann", "POST", "/api/v1/sessions", `{"session_id":"claimed"}`)
	s.want(403, "claimed", "POST", "/api/v1/sessions", `{"session_id":"other"}`)
	s.want(201, "claimed", "POST", "/api/v1/sessions", `{}`)
	s.want(200, "ann", "GET", "/api/v1/sessions/claimed", "")
}
