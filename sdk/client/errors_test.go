package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

// TestFaults checks the errors of rejected calls.
func TestFaults(t *testing.T) {
	s := newService(t)
	c := s.as(t, "operator")
	ctx, user := t.Context(), client.Caller{User: "ann"}
	for _, tt := range []struct {
		name   string
		call   func() error
		code   abi.Code
		status int
	}{
		{"an unknown tool", func() error { _, err := c.Run(ctx, run("nope", `{}`)); return err }, abi.NotFound, 404},
		{"invalid input", func() error { _, err := c.Run(ctx, run("remember", `{"language":1}`)); return err }, abi.InputInvalid, 422},
		{"the same, streamed", func() error { _, err := c.StreamRun(ctx, run("remember", `{"language":1}`), nil); return err }, abi.InputInvalid, 200},
		{"an unknown prompt", func() error { _, err := c.Render(ctx, user, "nope"); return err }, abi.NotFound, 404},
		{"an unknown session", func() error { _, err := c.Sessions().Get(ctx, ann); return err }, abi.NotFound, 404},
		{"unknown credentials", func() error { _, err := s.as(t, "who").Whoami(ctx); return err }, abi.AccessDenied, 401},
		{"no credentials", func() error { _, err := s.as(t, "").Whoami(ctx); return err }, abi.AccessDenied, 401},
		{"a missing permission", func() error { _, err := s.as(t, "read-only").Run(ctx, run("remember", `{}`)); return err }, abi.AccessDenied, 403},
		{"another user", func() error {
			_, err := s.as(t, "ann").Sessions().Start(ctx, apitypes.SessionRequest{User: "ben"})
			return err
		}, abi.AccessDenied, 403},
		{"no id", func() error { _, err := c.Users().Erase(ctx, ""); return err }, abi.InvalidArgument, 0},
		{"a path with dots", func() error { _, err := c.Users().Erase(ctx, ".."); return err }, abi.InvalidArgument, 0},
		{"input that is not JSON", func() error { _, err := c.Run(ctx, run("remember", `{`)); return err }, abi.InvalidArgument, 0},
		{"content that is not JSON", func() error {
			_, err := c.Records().Put(ctx, user, "prefs", json.RawMessage(`{`), client.WriteOptions{})
			return err
		}, abi.InvalidArgument, 400},
		{"an unknown file", func() error { _, err := c.Files().Download(ctx, ann, "nope"); return err }, abi.NotFound, 404},
	} {
		err := tt.call()
		e, ok := errors.AsType[*client.Error](err)
		if !ok || !errors.Is(err, tt.code) || e.Status != tt.status || e.Fault.Message == "" {
			t.Errorf("%s: %#v; want %s with the status %d", tt.name, err, tt.code, tt.status)
		}
	}
}

// TestFaultWhole checks that the error contains all fields of the fault.
func TestFaultWhole(t *testing.T) {
	c := newService(t).as(t, "operator")
	_, err := c.Records().Put(t.Context(), client.Caller{User: "ann"}, "prefs", json.RawMessage(`{"visits":"many"}`), client.WriteOptions{})
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok || f.Code != abi.SchemaViolation || f.Store != "prefs" || len(f.Violations) != 1 {
		t.Errorf("an invalid write: %+v; want the store and the violation", f)
	}
	_, err = c.Run(t.Context(), apitypes.RunRequest{Tool: "remember", RunFields: apitypes.RunFields{TimeoutMS: 10_000_000}})
	e, ok := errors.AsType[*client.Error](err)
	if !ok || len(e.Details) != 1 || !strings.Contains(e.Error(), e.Details[0].Location) {
		t.Errorf("a request that violates the API: %v; want the location", err)
	}
}

// TestNotRun checks that an error contains the run id even if the run fails before its tool starts.
func TestNotRun(t *testing.T) {
	c := newService(t).as(t, "operator")
	for name, call := range map[string]func() (*report.Result, error){
		"Run": func() (*report.Result, error) { return c.Run(t.Context(), run("remember", `{"language":1}`)) },
		"StreamRun": func() (*report.Result, error) {
			return c.StreamRun(t.Context(), run("remember", `{"language":1}`), nil)
		},
	} {
		result, err := call()
		if e, ok := errors.AsType[*client.Error](err); result != nil || !ok || !strings.HasPrefix(e.RunID, "run_") {
			t.Errorf("%s: %v, %+v; want no Result, and an error with the run", name, result, err)
		}
	}
}

// TestPagesEnd checks that an iteration ends if the service returns the same page again.
func TestPagesEnd(t *testing.T) {
	requested := 0
	transport := answers(func(*http.Request) (*http.Response, error) {
		if requested++; requested > 9 {
			return nil, errors.New("too many requests")
		}
		return answer(200, strings.NewReader(`{"items":[{"run_id":"r"}],"next":"r"}`)), nil
	})
	c := newClient(t, client.Options{URL: "http://service.example", HTTPClient: &http.Client{Transport: transport}})
	entries, failed := 0, 0
	for _, err := range c.Ledger().All(t.Context(), client.LedgerQuery{}) {
		if entries++; err != nil {
			failed++
		}
	}
	if requested != 2 || entries != 2 || failed != 1 {
		t.Errorf("%d requests, %d entries, %d errors; want an entry, and an error for the repeated page", requested, entries, failed)
	}
}

// TestToolFails checks that a failed tool results in both a Result and an error.
func TestToolFails(t *testing.T) {
	c := newService(t).as(t, "operator")
	logged := 0
	for name, call := range map[string]func() (*report.Result, error){
		"Run": func() (*report.Result, error) { return c.Run(t.Context(), run("fail", `{}`)) },
		"StreamRun": func() (*report.Result, error) {
			return c.StreamRun(t.Context(), run("fail", `{}`), func(int, abi.LogLine) { logged++ })
		},
	} {
		result, err := call()
		e, ok := errors.AsType[*client.Error](err)
		if !ok || !errors.Is(err, abi.ToolError) || result == nil || result.OK || len(result.Logs) != 1 || e.RunID != result.RunID || e.RunID == "" {
			t.Errorf("%s: %+v, %v; want the Result of the run and its error", name, result, err)
		}
	}
	if logged != 1 {
		t.Errorf("%d lines were streamed; want 1", logged)
	}
}

// TestCancel cancels the context of a run after its first line.
func TestCancel(t *testing.T) {
	c := newService(t).as(t, "operator")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := c.StreamRun(ctx, run("wait", `{}`), func(int, abi.LogLine) { cancel() })
	if !errors.Is(err, abi.Cancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v; want cancelled, by ctx", err)
	}
	late, done := context.WithTimeout(t.Context(), 1)
	defer done()
	if _, err := c.Whoami(late); !errors.Is(err, abi.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an expired context: %v; want timeout", err)
	}
}

// answers is an http.RoundTripper that returns responses that the service never sends.
type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// answer returns a response. header contains alternating names and values.
func answer(status int, body io.Reader, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(body)}
}

// TestForeignResponses reads responses that are not from the service.
func TestForeignResponses(t *testing.T) {
	const events = "text/event-stream"
	broken := io.MultiReader(strings.NewReader(`{"ok":`), iotest.ErrReader(errors.New("reset")))
	for _, tt := range []struct {
		name    string
		answer  *http.Response
		err     error
		stream  bool
		code    abi.Code
		outcome string
	}{
		{name: "a proxy's page", answer: answer(502, strings.NewReader("<html>")), code: abi.Unavailable},
		{name: "a page declared as a problem", answer: answer(404, strings.NewReader("<html>"), "Content-Type", "application/problem+json"), code: abi.NotFound},
		{name: "a redirect", answer: answer(302, strings.NewReader(""), "Location", "http://elsewhere.example/"), code: abi.Unavailable},
		{name: "a page in place of a Result", answer: answer(200, strings.NewReader("<html>")), code: abi.Unavailable},
		{name: "an endless response", answer: answer(200, endless{}), code: abi.TooLarge},
		{name: "an incomplete response", answer: answer(200, broken), code: abi.Unavailable, outcome: "unknown"},
		{name: "a connection that breaks", err: errors.New("reset"), code: abi.Unavailable, outcome: "unknown"},
		{name: "a failed Result without an error", answer: answer(200, strings.NewReader(`{}`)), code: abi.Internal},
		{name: "no events", stream: true, answer: answer(200, strings.NewReader("{}")), code: abi.Unavailable},
		{name: "events without a Result", stream: true, answer: answer(200, strings.NewReader("event: log\ndata: {}\n\n"), "Content-Type", events), code: abi.Unavailable, outcome: "unknown"},
		{name: "events that are not JSON", stream: true, answer: answer(200, strings.NewReader("event: log\ndata: {\n\n"), "Content-Type", events), code: abi.Unavailable, outcome: "unknown"},
		{name: "an endless event", stream: true, answer: answer(200, endless{}, "Content-Type", events), code: abi.TooLarge},
	} {
		transport := answers(func(*http.Request) (*http.Response, error) { return tt.answer, tt.err })
		c := newClient(t, client.Options{URL: "http://service.example", Key: "s3cret", HTTPClient: &http.Client{Transport: transport}})
		call := func() error { _, err := c.Run(t.Context(), run("remember", `{}`)); return err }
		if tt.stream {
			call = func() error { _, err := c.StreamRun(t.Context(), run("remember", `{}`), nil); return err }
		}
		err := call()
		f, _ := errors.AsType[*abi.Fault](err)
		if f == nil || f.Code != tt.code || f.Outcome != tt.outcome {
			t.Errorf("%s: %+v; want %s, outcome %q", tt.name, err, tt.code, tt.outcome)
		}
		if text := fmt.Sprintf("%v %+v %#v", err, err, f); strings.Contains(text, "s3cret") {
			t.Errorf("%s: the error shows the key: %s", tt.name, text)
		}
	}
}

// endless is an endless body.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestUnreachable checks that the Outcome of the error is not unknown if the request was never
// sent.
func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := newClient(t, client.Options{URL: server.URL}).Run(t.Context(), run("remember", `{}`))
	f, _ := errors.AsType[*abi.Fault](err)
	if f == nil || f.Code != abi.Unavailable || f.Outcome != "" {
		t.Errorf("an unreachable service: %+v; want unavailable, with a known outcome", err)
	}
}

// TestNew checks that the error reports all invalid options at once, and no secrets.
func TestNew(t *testing.T) {
	for _, url := range []string{"", "tools.example", "ftp://tools.example", "http://", "http://a b", "http://u:s3cret@tools.example", "https://tools.example/?k=s3cret"} {
		_, err := client.New(client.Options{URL: url, Key: "s3cret\n"})
		if err == nil || !strings.Contains(err.Error(), "Options.URL") || !strings.Contains(err.Error(), "Options.Key") {
			t.Errorf("New with the URL %q: %v; want both mistakes", url, err)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("New with the URL %q shows a secret: %v", url, err)
		}
	}
	c := newClient(t, client.Options{URL: "https://tools.example/below/", Key: "s3cret"})
	if text := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(text, "s3cret") {
		t.Errorf("printing a client reveals its key: %s", text)
	}
}
