package httpapi_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// problem sends a request that fails and returns the problem document.
func (s *service) problem(status int, who, method, path, body string, headers ...string) apitypes.Problem {
	s.t.Helper()
	var p apitypes.Problem
	s.want(status, who, method, path, body, headers...).into(s.t, &p)
	return p
}

// Hints refer to requests, not to tools or the command line.
func TestHintsOfRequests(t *testing.T) {
	s := newService(t)
	const record = "/api/v1/stores/prefs/record"
	if p := s.problem(400, "operator", "GET", record, ""); p.Code != "no_user" || !strings.Contains(p.Hint, "user_id") {
		t.Errorf("a record of no user = %+v; want the hint user_id", p)
	}
	if p := s.problem(400, "operator", "GET", "/api/v1/stores/cart/record?user_id=ann", ""); p.Code != "no_session" || !strings.Contains(p.Hint, "session_id") {
		t.Errorf("a record of no session = %+v; want the hint session_id", p)
	}
	s.want(200, "operator", "PUT", record+"?user_id=ann", `{}`)
	for _, header := range [][]string{{"If-Match", `"7"`}, {"If-None-Match", "*"}} {
		for method, body := range map[string]string{"PUT": `{}`, "DELETE": ""} {
			p := s.problem(412, "operator", method, record+"?user_id=ann", body, header...)
			if !strings.Contains(p.Hint, "ETag") || strings.Contains(p.Hint, "option") {
				t.Errorf("%s with %s: the hint is %q; want one about the ETag", method, header, p.Hint)
			}
		}
	}
}

// "If-Match: *" requires that the record exists, with any revision.
func TestIfMatchAny(t *testing.T) {
	s := newService(t)
	const path = "/api/v1/stores/prefs/record?user_id=ann"
	for method, body := range map[string]string{"PUT": `{}`, "PATCH": `{}`, "DELETE": ""} {
		if p := s.problem(412, "operator", method, path, body, "If-Match", "*"); p.Code != "conflict" || p.Hint == "" {
			t.Errorf("%s of no record = %+v", method, p)
		}
	}
	s.want(404, "operator", "GET", path, "")
	s.want(200, "operator", "PUT", path, `{"visits":1}`)
	r := s.want(200, "operator", "PATCH", path, `{"visits":2}`, "If-Match", "*")
	if r.Header.Get("ETag") != `"2"` {
		t.Errorf("the ETag is %s; want \"2\"", r.Header.Get("ETag"))
	}
	s.want(400, "operator", "PUT", path, `{}`, "If-Match", "*", "If-None-Match", "*")
	s.want(200, "operator", "DELETE", path, "", "If-Match", "*")
}

// Concurrent writes with "If-Match: *" do not make each other fail.
func TestIfMatchAnyAtOnce(t *testing.T) {
	s := newService(t)
	const path = "/api/v1/stores/prefs/record?user_id=ann"
	s.want(200, "operator", "PUT", path, `{}`)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if r := s.ask("operator", "PATCH", path, `{"visits":1}`, "If-Match", "*"); r.StatusCode != 200 {
				t.Errorf("a write = %s", r)
			}
		})
	}
	all.Wait()
}

// The response to an import lists the parts that were not imported, and the reasons.
func TestImportLeavesOut(t *testing.T) {
	s := newService(t)
	const document = `{"app":"elsewhere","memory":{"extra":{"access":"user"},"prefs":{"access":"user"}},
		"tools":{"a_tool":{"source":"a.js","description":"x"}},"prompts":{"a_prompt":{"template":"x"}}}`
	var got apitypes.Imported
	s.want(200, "operator", "POST", "/api/v1/import", document).into(t, &got)
	left := map[string]string{}
	for _, l := range got.LeftOut {
		if l.Reason == "" {
			t.Errorf("%+v has no reason", l)
		}
		left[l.Name] = l.Kind
	}
	if want := map[string]string{"elsewhere": "app", "prefs": "store", "a_tool": "tool", "a_prompt": "prompt"}; fmt.Sprint(left) != fmt.Sprint(want) || fmt.Sprint(got.Stores) != "[extra]" {
		t.Errorf("the import = %+v; want extra, without %v", got, want)
	}
	if r := s.want(200, "operator", "POST", "/api/v1/import", `{"app":"shop","memory":{"extra":{"access":"user"}}}`); !contains(r, `"left_out":[]`) {
		t.Errorf("an import of everything = %s", r)
	}
}

// A rendered prompt lists the expressions that have no value.
func TestRenderMissing(t *testing.T) {
	s := newService(t)
	const path, body = "/api/v1/prompts/greeting/render", `{"user_id":"ann","session_id":"s"}`
	r := s.want(200, "runtime", "POST", path, body)
	if !contains(r, `"text":"Hello , "`) || !contains(r, `"missing":["memory.sessionMeta.metadata.userName","memory.prefs.language"]`) {
		t.Errorf("rendered from nothing = %s", r)
	}
	s.want(200, "operator", "PUT", "/api/v1/stores/prefs/record?user_id=ann", `{"language":"fr"}`)
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"user_id":"ann","session_id":"s","metadata":{"userName":"Ann"}}`)
	if r := s.want(200, "runtime", "POST", path, body); !contains(r, `"text":"Hello Ann, fr"`) || contains(r, "missing") {
		t.Errorf("rendered from everything = %s", r)
	}
}

// The built-in store has a description, and the record of the store has the times of the session.
func TestSessionMetaDescribed(t *testing.T) {
	s := newService(t)
	if r := s.want(200, "read-only", "GET", "/api/v1/stores/sessionMeta", ""); !contains(r, `"declared":"built_in"`) || !contains(r, `"sessionInfo"`) || !contains(r, `"access":"session"`) {
		t.Errorf("the built-in store = %s", r)
	}
	for _, body := range []string{`{"access":"user"}`, `{"access":"session"}`} {
		if r := s.ask("operator", "PUT", "/api/v1/stores/sessionMeta", body); r.StatusCode < 400 || r.StatusCode >= 500 {
			t.Errorf("changing the built-in store = %s", r)
		}
	}
	var session apitypes.Session
	s.want(201, "runtime", "POST", "/api/v1/sessions", `{"user_id":"ann","session_id":"s"}`).into(t, &session)
	const record = "/api/v1/stores/sessionMeta/record?user_id=ann"
	r := s.want(200, "operator", "GET", record+"&session_id=s", "")
	var got apitypes.Record
	r.into(t, &got)
	if !got.Created.Equal(session.Started) || got.Updated.Before(session.Started) || contains(r, "revision") || contains(r, "0001-01-01") {
		t.Errorf("sessionMeta as a record = %s; want the times of %+v", r, session)
	}
	if r := s.want(200, "operator", "GET", record, ""); contains(r, "0001-01-01") || contains(r, `"created"`) {
		t.Errorf("sessionMeta without a session = %s", r)
	}
}

// The server checks the grants for code against the existing stores.
func TestGrantsOfCode(t *testing.T) {
	s := newService(t)
	for grants, want := range map[string]string{
		`{"sessionMeta":"readwrite"}`: "grant read", `{"sessionMeta":"delete"}`: "grant read", `{"pref":"read"}`: `did you mean "prefs"?`,
		`{"zzzzzzzz":"read"}`: "sessionMeta, prefs, cart, flags",
	} {
		if p := s.problem(400, "coder", "POST", "/api/v1/runs/code", `{"language":"javascript","code":"return 1","grants":`+grants+`}`); !strings.Contains(p.Hint, want) {
			t.Errorf("the grants %s = %+v; want the hint %s", grants, p, want)
		}
	}
	s.want(200, "coder", "POST", "/api/v1/runs/code", `{"language":"javascript","code":"return 1","grants":{"sessionMeta":"read"}}`)
}

// If a client sends its whole request before it reads anything, the client receives the error
// response instead of a connection reset.
func TestTooLargeBodyOfEagerClient(t *testing.T) {
	s := newService(t)
	const large = 30 << 20
	head := func(path, more string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer runtime\r\n" + more + "\r\n"
	}
	body, kind := form("a.txt", "text/plain", strings.Repeat("x", 20<<20+1))
	for name, request := range map[string]string{
		"a run":              head("/api/v1/runs", fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", large)) + strings.Repeat(" ", large),
		"a run, in chunks":   head("/api/v1/runs", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n") + chunked(strings.Repeat(" ", large)),
		"an upload":          head("/api/v1/sessions/s/files", fmt.Sprintf("Content-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n", large)) + strings.Repeat("x", large),
		"a file too large":   head("/api/v1/sessions/s/files", fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", kind, len(body))) + body,
		"an upload, chunked": head("/api/v1/sessions/s/files", "Content-Type: "+kind+"\r\nTransfer-Encoding: chunked\r\n") + chunked(body),
	} {
		t.Run(name, func(t *testing.T) {
			response, err := writeFirst(s.server.Listener.Addr().String(), request)
			if err != nil {
				t.Fatalf("no response: %v", err)
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != 413 || !bytes.Contains(text, []byte(abi.TooLarge)) {
				t.Errorf("the answer = %s %s, %v; want 413", response.Status, text, err)
			}
		})
	}
}

// chunked returns a text in the chunked transfer coding of HTTP/1.1. Each chunk has at most 1 MiB.
func chunked(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(len(text), 1<<20)
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, text[:n])
		text = text[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// writeFirst sends a whole request before it reads the response.
func writeFirst(address, request string) (*http.Response, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, errors.Join(errors.New("the request cannot be sent"), err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response, err
}
