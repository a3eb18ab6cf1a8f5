package httpapi_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// The method refused sends a request, and checks that the response is a complete problem document
// with the given code. The request must not store data.
func (s *service) refused(status int, code abi.Code, who, method, path, body string, headers ...string) reply {
	s.t.Helper()
	r := s.want(status, who, method, path, body, headers...)
	s.isProblem(r, code)
	s.emptyOfAnn()
	return r
}

func (s *service) isProblem(r reply, code abi.Code) {
	s.t.Helper()
	var p apitypes.Problem
	r.into(s.t, &p)
	if p.Code != string(code) || p.Status != r.StatusCode || p.Type != "urn:toolrun:fault:"+p.Code || p.Title == "" || p.Detail == "" ||
		r.Header.Get("Content-Type") != "application/problem+json" {
		s.t.Errorf("%s (%s) is not a problem with the code %s", r, r.Header.Get("Content-Type"), code)
	}
	for _, hostly := range []string{"/tmp", "/root", "/home", "goroutine", ".go:", "Go struct"} {
		if contains(r, hostly) {
			s.t.Errorf("%s reveals the host: %s", r, hostly)
		}
	}
}

// emptyOfAnn fails the test if any data of ann is stored.
func (s *service) emptyOfAnn() {
	s.t.Helper()
	s.want(404, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", "")
	if r := s.want(200, "operator", "GET", "/api/v1/sessions", ""); !contains(r, `{"items":[]}`) {
		s.t.Errorf("there is a session: %s", r)
	}
}

func TestBadBodies(t *testing.T) {
	s := newService(t)
	const runs, record = "/api/v1/runs", "/api/v1/stores/prefs/record?user_id=ann"
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, test := range []struct {
		name, body string
		status     int
		code       abi.Code
		headers    []string
	}{
		{"malformed", `{"tool":"remember"`, 400, abi.InvalidArgument, nil},
		{"two values", `{"tool":"remember"} {}`, 400, abi.InvalidArgument, nil},
		{"duplicate keys", `{"tool":"fail","tool":"remember"}`, 400, abi.InvalidArgument, nil},
		{"duplicate keys, one escaped", `{"tool":"fail","\u0074ool":"remember"}`, 400, abi.InvalidArgument, nil},
		{"duplicate keys in the input", `{"tool":"remember","input":{"language":"a","language":"b"}}`, 400, abi.InvalidArgument, nil},
		{"another case", `{"tool":"remember","Session_ID":"s"}`, 422, abi.InvalidArgument, nil},
		{"bad UTF-8", "{\"tool\":\"remember\",\"message\":\"\xff\"}", 400, abi.InvalidArgument, nil},
		{"lone surrogate", `{"tool":"remember","message":"\ud800"}`, 400, abi.InvalidArgument, nil},
		{"deep", `{"tool":"remember","input":` + deep + `}`, 400, abi.InvalidArgument, nil},
		{"deep in place of a string", `{"tool":` + deep + `}`, 400, abi.InvalidArgument, nil},
		{"a huge number", `{"tool":"remember","timeout_ms":1e999999}`, 400, abi.InvalidArgument, nil},
		{"a number with an exponent", `{"tool":"remember","timeout_ms":1e3}`, 422, abi.InvalidArgument, nil},
		{"a negative time", `{"tool":"remember","timeout_ms":-1}`, 422, abi.InvalidArgument, nil},
		{"no tool", `{"tool":"nothing"}`, 404, abi.NotFound, nil},
		{"an unknown content type", `{"tool":"remember"}`, 415, abi.InvalidArgument, []string{"Content-Type", "text/plain"}},
		{"a suffix is not enough", `{"tool":"remember"}`, 415, abi.InvalidArgument, []string{"Content-Type", "application/x+json"}},
		{"another charset", `{"tool":"remember"}`, 415, abi.InvalidArgument, []string{"Content-Type", "application/json; charset=utf-16"}},
		{"too large", `{"tool":"remember","message":"` + strings.Repeat("a", 5<<20) + `"}`, 413, abi.TooLarge, nil},
		{"a control character in a session", `{"tool":"remember","session_id":"a\nb"}`, 400, abi.InvalidArgument, nil},
		{"a control character in a reference", `{"tool":"remember","session_id":"s","session_reference":"a\u0000b"}`, 400, abi.InvalidArgument, nil},
		{"a control character in a user's reference", `{"tool":"remember","session_id":"s","user_reference":"a\u001bb"}`, 400, abi.InvalidArgument, nil},
		{"NUL in a metadata key", `{"tool":"remember","session_id":"s","metadata":{"a\u0000b":1}}`, 400, abi.InvalidArgument, nil},
		{"a key too long", `{"tool":"remember"}`, 422, abi.InvalidArgument, []string{"Idempotency-Key", strings.Repeat("k", 300)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.t = t
			s.refused(test.status, test.code, "ann", "POST", runs, test.body, test.headers...)
		})
	}
	s.t = t
	s.refused(413, abi.TooLarge, "operator", "PUT", record, `"`+strings.Repeat("a", 2<<20)+`"`)
	s.refused(400, abi.InvalidArgument, "operator", "PUT", record, `{}`, "If-Match", "7")
	s.refused(400, abi.InvalidArgument, "operator", "PUT", record+"&user_id=bob", `{}`)
	s.refused(400, abi.InvalidArgument, "operator", "PUT", record+"&ttl=%zz", `{}`)
	s.refused(422, abi.InvalidArgument, "operator", "PUT", record+"&what=1", `{}`)
	s.refused(405, abi.InvalidArgument, "ann", "PUT", runs, `{}`)
	s.refused(404, abi.NotFound, "ann", "GET", "/api/v1/nothing", "")
	s.refused(404, abi.NotFound, "ann", "GET", "/api/v1/../v1//tools", "")
}

// If a request has the idempotency key of an earlier request but a different body, the response is
// an error. Repeating the first request returns the same Result.
func TestKeyReuse(t *testing.T) {
	s := newService(t)
	var first, again report.Result
	s.want(200, "ann", "POST", "/api/v1/runs", `{"tool":"remember"}`, "Idempotency-Key", "k").into(t, &first)
	s.want(200, "ann", "POST", "/api/v1/runs", `{"tool":"remember"}`, "Idempotency-Key", "k").into(t, &again)
	if first.RunID != again.RunID || !again.Repeated {
		t.Errorf("the repeated request is the run %s; want %s", again.RunID, first.RunID)
	}
	s.isProblem(s.want(409, "ann", "POST", "/api/v1/runs", `{"tool":"remember","input":{"language":"fr"}}`, "Idempotency-Key", "k"), abi.Conflict)
	if r := s.want(200, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", ""); !contains(r, `{"visits":1}`) {
		t.Errorf("three requests with one key counted %s", r)
	}
}

// zipBomb returns a small DOCX file whose text would expand to a gigabyte.
func zipBomb(t testing.TB) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"[Content_Types].xml": `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
		"_rels/.rels":         `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, text)
	}
	w, err := z.Create("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>`)
	zeros := bytes.Repeat([]byte("a"), 1<<20)
	for range 300 {
		_, _ = w.Write(zeros)
	}
	if err := z.Close(); err != nil { // the document has no end tag, but only a complete read detects this
		t.Fatal(err)
	}
	return b.String()
}

func TestBadUploads(t *testing.T) {
	s := newService(t)
	const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	for _, test := range []struct {
		name, filename, mediaType, content string
		status                             int
		code                               abi.Code
	}{
		{"a program declared as an image", "cat.png", "image/png", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 64), 400, abi.InvalidArgument},
		{"an HTML page declared as a PDF", "a.pdf", "application/pdf", "<html><script>1</script></html>", 400, abi.InvalidArgument},
		{"an unsupported type", "a.exe", "application/octet-stream", "MZ", 400, abi.InvalidArgument},
		{"a name that contradicts the type", "a.txt", "image/png", "text", 400, abi.InvalidArgument},
		{"control characters in the name", "a\x01b.txt", "text/plain", "text", 400, abi.InvalidArgument},
		{"a name with a bidi override", "a\u202etxt.pdf", "application/pdf", "%PDF-1.4", 400, abi.InvalidArgument},
		{"a device name", "con.txt", "text/plain", "text", 400, abi.InvalidArgument},
		{"no name", "", "text/plain", "text", 400, abi.InvalidArgument},
		{"too large", "a.txt", "text/plain", strings.Repeat("a", artifact.MaxBytes+1), 413, abi.TooLarge},
		{"far too large", "a.txt", "text/plain", strings.Repeat("a", artifact.MaxBytes+2<<20), 413, abi.TooLarge},
		{"broken", "a.docx", docx, "PK\x03\x04 and no more", 400, abi.InvalidArgument},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.t = t
			body, contentType := form(test.filename, test.mediaType, test.content)
			s.refused(test.status, test.code, "ann", "POST", "/api/v1/sessions/s/files", body, "Content-Type", contentType)
		})
	}
	s.t = t
	body, contentType := form("a.txt", "text/plain", "text")
	s.refused(400, abi.InvalidArgument, "ann", "POST", "/api/v1/sessions/s/files", body[:len(body)/2], "Content-Type", contentType)
	s.refused(400, abi.InvalidArgument, "ann", "POST", "/api/v1/sessions/s/files", body, "Content-Type", "multipart/form-data")
	s.refused(415, abi.InvalidArgument, "ann", "POST", "/api/v1/sessions/s/files", body, "Content-Type", "application/json")
	s.refused(400, abi.InvalidArgument, "ann", "POST", "/api/v1/sessions/s/files", strings.Replace(body, `name="file"`, `name="other"`, 1), "Content-Type", contentType)
}

// A document that expands too much is stored without its text.
func TestZipBomb(t *testing.T) {
	s := newService(t)
	body, contentType := form("bomb.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", zipBomb(t))
	r := s.want(201, "runtime", "POST", "/api/v1/sessions/s/files?user_id=ann", body, "Content-Type", contentType)
	if !contains(r, `"has_text":false`) || !contains(r, `"text_reason":"too_complex"`) {
		t.Errorf("a zip bomb = %s; want it without text", r)
	}
}

// The server removes folders from the name of an uploaded file. The rest of the file name cannot
// inject headers into a response.
func TestFilenames(t *testing.T) {
	s := newService(t)
	s.want(201, "operator", "POST", "/api/v1/sessions", `{"session_id":"s","user_id":"ann"}`)
	for _, name := range []string{`../../etc/passwd.txt`, `..\\..\\passwd.txt`, `a;b.txt`, `é.txt`, `a'b.txt`, `%0d%0aSet-Cookie: a=b.txt`} {
		body, contentType := form(name, "text/plain", "text")
		r := s.want(201, "ann", "POST", "/api/v1/sessions/s/files", body, "Content-Type", contentType)
		var kept apitypes.Artifact
		r.into(t, &kept)
		if strings.ContainsAny(kept.Filename, "/\\\r\n") {
			t.Errorf("the name %q is stored as %q", name, kept.Filename)
		}
		r = s.want(200, "ann", "GET", "/api/v1/sessions/s/files/"+kept.ID, "")
		if d := r.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment") || r.Header.Get("Set-Cookie") != "" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("the file %q has the headers %v", name, r.Header)
		}
	}
}

// If the client disconnects during a run, nothing is stored, and the ledger records the
// cancellation.
func TestClientDisconnect(t *testing.T) {
	s := newService(t)
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.server.URL+"/api/v1/runs/stream", strings.NewReader(`{"tool":"wait"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ann")
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	(&following{Response: response, lines: bufio.NewScanner(response.Body)}).until(t, "event: log")
	hangUp()
	const ledger = "/api/v1/ledger?tool=wait"
	found := s.want(200, "operator", "GET", ledger, "")
	for !contains(found, `"run_id"`) { // the timeout of the test limits the loop
		found = s.want(200, "operator", "GET", ledger, "")
	}
	if !contains(found, `"code":"cancelled"`) || !contains(found, `"writes":[]`) {
		t.Errorf("the ledger is %s", found)
	}
	s.emptyOfAnn()
}

// slowly starts a server with shortened timeouts and returns its address.
func slowly(t *testing.T, api http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: api, ReadHeaderTimeout: 100 * time.Millisecond, ReadTimeout: 300 * time.Millisecond, IdleTimeout: time.Second, MaxHeaderBytes: 64 << 10}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(listener) }()
	t.Cleanup(func() { _ = web.Close(); <-done })
	return listener.Addr().String()
}

// A client that sends its headers or its body very slowly is disconnected, and nothing is stored.
func TestSlowClients(t *testing.T) {
	s := newService(t)
	address := slowly(t, s.api)
	for _, begun := range []string{
		"POST /api/v1/runs HTTP/1.1\r\nHost: a\r\nX-",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, begun)
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
					if _, err := io.WriteString(conn, "a"); err != nil {
						return
					}
				}
			}
		}()
		_, _ = io.Copy(io.Discard, conn) // until the server closes the connection
		close(stop)
		_ = conn.Close()
	}
	s.emptyOfAnn()
}

// If a client stops sending in the middle of a request body, the client receives an error. A run
// can take longer than the read timeout.
func TestSlowBodyAndLongRun(t *testing.T) {
	s := newService(t)
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.api.ServeHTTP(shortReads{w}, r)
	})
	address := slowly(t, api)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/v1/runs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
	answer, err := io.ReadAll(conn)
	if err != nil || !bytes.Contains(answer, []byte("408 Request Timeout")) || !bytes.Contains(answer, []byte(`"code":"timeout"`)) {
		t.Errorf("an incomplete body = %q, %v", answer, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+address+"/api/v1/runs", strings.NewReader(`{"tool":"wait","timeout_ms":1500}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ann")
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var result report.Result
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		t.Fatal(err)
	}
	if result.Error == nil || result.Error.Code != abi.Timeout {
		t.Errorf("a long run ends with %+v; want its own timeout, not the read timeout", result.Error)
	}
	s.emptyOfAnn()
}

// shortReads shortens the time limit for reading bodies.
type shortReads struct{ http.ResponseWriter }

func (w shortReads) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w shortReads) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		t = time.Now().Add(200 * time.Millisecond)
	}
	return http.NewResponseController(w.ResponseWriter).SetReadDeadline(t)
}

func TestLinks(t *testing.T) {
	now := time.Now()
	links, err := httpapi.NewLinks(bytes.Repeat([]byte("k"), 32), "http://files.example", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t, func(o *httpapi.Options) { o.Links = links })
	s.want(201, "operator", "POST", "/api/v1/sessions", `{"session_id":"s","user_id":"ann"}`)
	body, contentType := form("a.txt", "text/plain", "secret text")
	var f apitypes.File
	s.want(201, "ann", "POST", "/api/v1/sessions/s/files", body, "Content-Type", contentType).into(t, &f)
	at, err := url.Parse(f.URL)
	if err != nil || at.Host != "files.example" {
		t.Fatalf("the link is %q, %v", f.URL, err)
	}
	get := func(target string) reply {
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", target, nil))
		return reply{w.Result(), w.Body.Bytes()}
	}
	if r := get(at.RequestURI()); r.StatusCode != 200 || string(r.body) != "secret text" || r.Header.Get("Content-Security-Policy") == "" {
		t.Fatalf("the link = %s", r)
	}
	token := strings.TrimPrefix(at.Path, "/files/")
	if len(token) > 1500 || at.RawQuery != "" {
		t.Errorf("the link is %d characters; want a bounded one without a query", len(f.URL))
	}
	bad := []string{"/files/", "/files/x", "/files/acme/shop/file_1", at.Path + "?a=b", at.Path + "A", at.Path[:len(at.Path)-1], "/files/" + strings.Repeat("A", 5000)}
	for i := range token { // changing any character makes the link invalid
		other := "A"
		if token[i] == 'A' {
			other = "B"
		}
		bad = append(bad, "/files/"+token[:i]+other+token[i+1:])
	}
	for _, target := range bad {
		r := get(target)
		if r.StatusCode != 404 || contains(r, "secret") {
			t.Errorf("%s = %s", target, r)
		}
		s.isProblem(r, abi.NotFound)
	}
	now = now.Add(31 * 24 * time.Hour)
	if r := get(at.RequestURI()); r.StatusCode != 404 {
		t.Errorf("an expired link = %s", r)
	}
}

func TestRate(t *testing.T) {
	limited := map[string]int{}
	s := newService(t, func(o *httpapi.Options) {
		o.Rate, o.Burst, o.Limited = 0.001, 2, func(tenant string) { limited[tenant]++ }
	})
	s.want(200, "ann", "GET", "/api/v1/whoami", "")
	s.want(200, "ann", "GET", "/api/v1/whoami", "")
	r := s.want(429, "ann", "POST", "/api/v1/runs", `{"tool":"remember"}`)
	s.isProblem(r, abi.Unavailable)
	if after := r.Header.Get("Retry-After"); after == "" || after == "0" {
		t.Errorf("Retry-After is %q", after)
	}
	s.want(200, "bob", "GET", "/api/v1/whoami", "") // limits apply to each principal separately
	s.want(200, "operator", "GET", "/api/v1/whoami", "")
	s.want(404, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", "")
	if len(limited) != 1 || limited["acme"] != 1 {
		t.Errorf("the limited requests are %v; want one of acme", limited)
	}
}
