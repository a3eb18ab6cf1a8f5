package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

// described is the part of the OpenAPI document that this test uses.
type described struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]json.RawMessage }
}

type operation struct {
	OperationID string
	Parameters  []parameter
	RequestBody *struct{ Content map[string]media }
	Responses   map[string]struct{ Content map[string]media }

	method, path string
	checks       map[string]*schema.Schema // by status and content type of the response
}

type parameter struct {
	Name, In string
	Required bool
	Schema   map[string]any
}

type media struct{ Schema json.RawMessage }

// operations reads the OpenAPI document and compiles all response schemas.
func operations(t *testing.T, s *service) (list []*operation, schemas map[string]map[string]any) {
	t.Helper()
	text, err := s.api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc described
	reply{body: text}.into(t, &doc)
	schemas = map[string]map[string]any{}
	for name, text := range doc.Components.Schemas {
		var v map[string]any
		reply{body: text}.into(t, &v)
		schemas[name] = v
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			op.method, op.path, op.checks = strings.ToUpper(method), path, map[string]*schema.Schema{}
			for status, response := range op.Responses {
				for kind, m := range response.Content {
					op.checks[status+" "+kind] = compiled(t, m.Schema, doc.Components.Schemas)
				}
			}
			list = append(list, op)
		}
	}
	return list, schemas
}

// compiled compiles a schema in the document, and all schemas to which this schema can refer.
func compiled(t *testing.T, text json.RawMessage, all map[string]json.RawMessage) *schema.Schema {
	t.Helper()
	whole, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{text}, "components": map[string]any{"schemas": all}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := schema.Compile(whole, schema.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// generator draws requests.
type generator struct {
	*rapid.T
	schemas map[string]map[string]any
	// The field file contains the id of a file of ann in the session.
	session, file string
	// The field run contains the id of a run that an operator started. The field workflow contains
	// the id of a workflow of ann.
	run, workflow string
}

// percents is a list of all percentages. Tests draw from this list, because the package rapid draws
// most integers near the ends of a range.
var percents = func() (all [100]int) {
	for i := range all {
		all[i] = i
	}
	return all
}()

func (g *generator) chance(label string, percent int) bool {
	return rapid.SampledFrom(percents[:]).Draw(g.T, label) >= 100-percent // shrinks to false
}

func pick[T any](g *generator, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(g.T, label)
}

// texts contains meaningful and unexpected strings.
var texts = []string{
	"remember", "look", "fail", "nothing", "s1", "s2", "s3", "ann", "bob", "shop", "prefs", "cart", "flags", "sessionMeta", "extra", "1h", "1_week", "greeting",
	"", ".", "..", "../../etc/passwd", "a/b", "a%2fb", "%00", "\x00", "a\nb", "é", "💥", "\u202e", "{}", `{"a":1}`, `{"language":1}`, `"1"`, "*", "null", "'; --",
	strings.Repeat("x", 64), strings.Repeat("x", 257), strings.Repeat("é", 200), "2026-01-01T00:00:00Z", "-1", "1e9", "9223372036854775808",
}

// The variable known maps names of members and parameters to meaningful values.
var known = map[string][]string{
	"app": {"shop"}, "tool": {"remember", "look", "fail"}, "session_id": {"s1", "s2", "s3"}, "user_id": {"ann"}, "store": {"prefs", "flags", "extra"},
	"prompt": {"greeting"}, "code": {"return 1"}, "If-Match": {`"1"`}, "If-None-Match": {"*"}, "ttl": {"1h"}, "projection": {`{"language":1}`},
	"since": {"2026-01-01T00:00:00Z"}, "until": {"2126-01-01T00:00:00Z"}, "retention": {"1_week"}, "technical_name": {"extra", "extra", "prefs"}, "access": {"user"},
	"session_reference": {"ref"}, "user_reference": {"ref"}, "after": {"s1"}, "Idempotency-Key": {"k1", "k2", "k3"},
	"collection": {"notebook"}, "id": {"e1"}, "namespace": {"s1"},
	"agent": {"Concierge"}, "path": {"user.language"}, "message": {"hello"}, "event": {"session:start"},
	"block": {"core", "archival"}, "agent_id": {"agent_emails"}, "query": {"tea"}, "expected_updated_at": {"2026-04-30T16:20:00"},
}

// named draws a value for a member or a parameter.
func (g *generator) named(name string, s map[string]any) any {
	if name == "file_id" && g.chance("known file", 80) {
		return g.file
	}
	if name == "run_id" && g.chance("known run", 80) {
		return g.run
	}
	if name == "workflow_id" && g.chance("known workflow", 80) {
		return g.workflow
	}
	if name == "session_id" && g.chance("known session", 40) {
		return g.session
	}
	if from := known[name]; len(from) > 0 && g.chance("known", 85) {
		return pick(g, "known "+name, from...)
	}
	return g.value(s)
}

// value draws a value that usually matches a schema.
func (g *generator) value(s map[string]any) any {
	if ref, ok := s["$ref"].(string); ok {
		return g.value(g.schemas[ref[strings.LastIndexByte(ref, '/')+1:]])
	}
	if g.chance("odd", 4) {
		return g.anything()
	}
	if enum, ok := s["enum"].([]any); ok {
		return pick(g, "enum", enum...)
	}
	switch s["type"] {
	case "string":
		return pick(g, "text", texts...)
	case "boolean":
		return rapid.Bool().Draw(g.T, "boolean")
	case "integer":
		return pick[any](g, "integer", 1, 2, 100, 1000, 0, -1, 1<<40, json.Number("1e3"), json.Number("1.5"))
	case "object":
		return g.object(s)
	}
	if g.chance("object", 70) {
		return map[string]any{pick(g, "name", texts...): pick(g, "member", texts...), "language": "en"}
	}
	return g.anything()
}

func (g *generator) object(s map[string]any) any {
	members := map[string]any{}
	required, _ := s["required"].([]any)
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) && !g.chance("missing", 3) || g.chance("optional", 25) {
			property, _ := properties[name].(map[string]any)
			members[name] = g.named(name, property)
		}
	}
	if additional, ok := s["additionalProperties"].(map[string]any); ok {
		members[pick(g, "key", texts...)] = g.value(additional)
	}
	if g.chance("extra", 4) {
		members[pick(g, "extra name", texts...)] = g.anything()
	}
	return members
}

func (g *generator) anything() any {
	return pick[any](g, "anything", nil, true, 0, -1, json.Number("1e308"), json.Number("123456789012345678901234567890"), "", "a\x00b", []any{}, []any{1, "a"},
		map[string]any{}, map[string]any{"": nil}, map[string]any{"$ref": "#"}, map[string]any{"type": 7}, json.RawMessage(strings.Repeat("[", 2000)+strings.Repeat("]", 2000)))
}

// spoil corrupts a body.
func (g *generator) spoil(text string) string {
	at := rapid.IntRange(0, len(text)).Draw(g.T, "at")
	return pick(g, "spoiled", "", text[:at], text[:at]+"\xff"+text[at:], text[:at]+"\x00"+text[at:], text[:at]+`\ud800`+text[at:],
		text+text, `{"a":1,"a":1}`, "null", "[]", `"text"`, "1e999999999", strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 20_000), "\ufeff"+text)
}

// request draws a request for an operation.
func (g *generator) request(s *service, op *operation) *http.Request {
	query, header := url.Values{}, http.Header{}
	path := op.path
	for _, p := range op.Parameters {
		if !p.Required && !g.chance("parameter", 25) && !(p.Name == "user_id" && g.chance("user", 60)) {
			continue
		}
		text := fmt.Sprint(g.named(p.Name, p.Schema))
		switch p.In {
		case "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(text), 1)
		case "query":
			query.Add(p.Name, text)
		case "header":
			header.Set(p.Name, strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7f {
					return -1 // the HTTP client would reject the value
				}
				return r
			}, text))
		}
	}
	var body []byte
	if op.RequestBody != nil {
		var kind string
		body, kind = g.body(op)
		header.Set("Content-Type", kind)
	}
	if g.chance("odd query", 4) {
		query.Add(pick(g, "query", texts...), "1")
	}
	if g.chance("odd header", 6) {
		header.Set(pick(g, "header", "Accept", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "Content-Encoding", "Expect-Nothing", "X-HTTP-Method-Override"),
			pick(g, "header value", "", "json", "application/cbor", "*/*;q=0", "text/html", "gzip", "application/json; charset=latin1", "W/\"1\"", "DELETE", strings.Repeat("a", 500)))
	}
	raw := s.server.URL + path + "?" + query.Encode()
	if g.chance("raw query", 3) {
		raw += pick(g, "raw", "&user_id", "&%zz=1", "&a;b", "&user_id=ann&user_id=bob", "&=")
	}
	r, err := http.NewRequestWithContext(s.t.Context(), op.method, raw, bytes.NewReader(body))
	if err != nil {
		g.Fatal(err)
	}
	r.Header = header
	if who := pick(g, "role", "operator", "operator", "operator", "runtime", "coder", "read-only", "ann", "bob", "elsewhere", "no app", "stranger", ""); who != "" {
		r.Header.Set("Authorization", "Bearer "+who)
	}
	return r
}

func (g *generator) body(op *operation) (body []byte, kind string) {
	kind = pick(g, "kind", slices.Sorted(maps.Keys(op.RequestBody.Content))...)
	text := ""
	if kind == "multipart/form-data" {
		text, kind = form(pick(g, "filename", "a.txt", "a.json", "a.pdf", "../a.txt", "a\\b.docx", "é.csv", "", "con.txt"),
			pick(g, "media type", "text/plain", "application/pdf", "application/json", "", "*/*"), pick(g, "content", "text", "{}", "%PDF-1.4", "PK\x03\x04", "", "\xff\xfe"))
	} else {
		var s map[string]any
		_ = json.Unmarshal(op.RequestBody.Content[kind].Schema, &s)
		v := g.value(s)
		if op.OperationID == "import-stores" && g.chance("app file", 50) {
			v = json.RawMessage(`{"app":"shop","memory":{"extra":{"access":"user"}}}`)
		}
		encoded, err := json.Marshal(v)
		if err != nil {
			g.Fatal(err)
		}
		text = string(encoded)
	}
	if g.chance("spoil", 12) {
		text = g.spoil(text)
	}
	if g.chance("odd kind", 4) {
		kind = pick(g, "kind", "", "text/plain", "application/json", "application/xml", "multipart/form-data", "application/x+json", "a/b; c", "+;", "application/json;charset=utf-8")
	}
	return []byte(text), kind
}

// check compares a response with the OpenAPI document.
func (op *operation) check(t *rapid.T, r *http.Request, got reply) {
	kind, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	fail := func(why string) {
		t.Fatalf("%s: %s %s as %s = %s (%s): %s", op.OperationID, r.Method, r.URL, r.Header.Get("Authorization"), got, kind, why)
	}
	if _, ok := op.Responses[fmt.Sprint(got.StatusCode)]; !ok || got.StatusCode == 500 {
		if got.StatusCode == 404 || got.StatusCode == 405 { // the path matches another route
			return
		}
		fail("the status is not documented")
	}
	if (op.OperationID == "get-file" || op.OperationID == "export-user") && got.StatusCode == 200 {
		return // not JSON, because a file has the content type of its upload
	}
	c := op.checks[fmt.Sprint(got.StatusCode)+" "+kind]
	if c == nil {
		fail("the content type is not documented")
	}
	if kind == "text/event-stream" {
		return
	}
	doc, err := strictjson.Decode(got.body, strictjson.Limits{})
	if err != nil {
		fail(err.Error())
	}
	if violations := c.Validate(doc); len(violations) > 0 {
		fail(fmt.Sprint("it does not fit its schema: ", violations))
	}
	if got.StatusCode >= 400 {
		var p apitypes.Problem
		if err := json.Unmarshal(got.body, &p); err != nil || p.Type == "" || p.Title == "" || p.Detail == "" || p.Code == "" || p.Status != got.StatusCode {
			fail("the problem is not complete")
		}
	}
}

// Every response conforms to the OpenAPI document: the server never crashes, and the document
// contains the status, the type and all members of each response.
func TestGeneratedRequests(t *testing.T) {
	s := newService(t)
	list, schemas := operations(t, s)
	requests := 40
	if os.Getenv("TOOLRUN_SOAK") != "" {
		requests = 3000
	}
	statuses := map[string]map[int]bool{}
	sessions := 0
	s.want(201, "operator", "POST", "/api/v1/stores", `{"technical_name":"extra","access":"user"}`)
	rapid.Check(t, func(rt *rapid.T) {
		sessions++
		g := &generator{T: rt, schemas: schemas, session: fmt.Sprint("f", sessions)}
		s.want(201, "operator", "POST", "/api/v1/sessions", `{"user_id":"ann","session_id":"`+g.session+`"}`)
		g.workflow = fmt.Sprint("w", sessions)
		s.want(200, "operator", "POST", "/api/v1/runs", `{"tool":"step","user_id":"ann","workflow_id":"`+g.workflow+`"}`)
		body, kind := form("a.txt", "text/plain", "text")
		var f apitypes.Artifact
		s.want(201, "ann", "POST", "/api/v1/sessions/"+g.session+"/files", body, "Content-Type", kind).into(t, &f)
		g.file = f.ID
		g.run = s.want(200, "operator", "POST", "/api/v1/runs", `{"tool":"look"}`).Header.Get("Run-Id")
		for range requests {
			op := rapid.SampledFrom(list).Draw(rt, "operation")
			r := g.request(s, op)
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				rt.Fatalf("%s %s: %v", r.Method, r.URL, err)
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil {
				rt.Fatal(err)
			}
			op.check(rt, r, reply{response, body})
			if statuses[op.OperationID] == nil {
				statuses[op.OperationID] = map[int]bool{}
			}
			statuses[op.OperationID][response.StatusCode/100] = true
		}
	})
	good := 0
	for _, seen := range statuses {
		if seen[2] && seen[4] {
			good++
		}
	}
	if good < len(list)*3/4 {
		t.Errorf("%d of %d operations were both admitted and rejected: the requests cover too little", good, len(list))
	}
}
