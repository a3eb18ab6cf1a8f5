package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// messageBody is the body of a request that contains a message but no tool. Platforms send requests
// of this kind.
const messageBody = `{
  "message": "Hello",
  "session_id": "sess_123",
  "metadata": {
    "userId": "user_456",
    "userName": "John",
    "customerTier": "premium",
    "channel": "mobile_app"
  }
}`

const greetTool = `{source: greet.js, description: greets, inputSchema: {type: object, properties: {message: {type: string}}}, grants: {sessionMeta: read}}`

// serving starts a service and replaces its app. The argument "text" is the new app file.
func serving(t *testing.T, text string) *service {
	t.Helper()
	var served *tenants.Apps
	s := newService(t, func(o *httpapi.Options) { served = o.Apps })
	declared, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte(text)},
		"greet.js": {Data: []byte(`return {said: $message, name: (await memory.get_content("sessionMeta")).metadata.userName}`)},
		"other.js": {Data: []byte(`return "other"`)},
	}, "app.yaml")
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	if err := served.Serve(t.Context(), []*app.App{declared}); err != nil {
		t.Fatal(err)
	}
	return s
}

// A message without a tool runs the default tool or the only tool.
func TestDefaultTool(t *testing.T) {
	for name, text := range map[string]string{
		"the only tool": "app: shop\ntools:\n  greet: " + greetTool + "\n",
		"the default":   "app: shop\ndefault_tool: greet\ntools:\n  other: {source: other.js, description: answers}\n  greet: " + greetTool + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serving(t, text)
			const want = `"output":{"said":"Hello","name":"John"}`
			for _, path := range []string{"/api/v1/runs", "/api/v1/sessions/sess_123/runs", "/api/v1/runs/stream"} {
				if r := s.want(200, "runtime", "POST", path, messageBody); !contains(r, want) || !contains(r, `"tool":"greet"`) {
					t.Errorf("POST %s = %s; want %s", path, r, want)
				}
			}
			r := s.want(201, "runtime", "POST", "/api/v1/sessions", messageBody)
			if !contains(r, want) || !contains(r, `"session_id":"sess_123"`) {
				t.Errorf("POST /sessions = %s; want the session and %s", r, want)
			}
			if r := s.want(201, "runtime", "POST", "/api/v1/sessions", `{"session_id":"quiet"}`); contains(r, "result") {
				t.Errorf("a session without a message = %s", r)
			}
		})
	}
}

// If there are several tools but no default, the request fails and starts no session.
func TestNoDefaultTool(t *testing.T) {
	s := newService(t)
	for _, path := range []string{"/api/v1/runs", "/api/v1/sessions"} {
		r := s.want(400, "runtime", "POST", path, messageBody)
		var p apitypes.Problem
		r.into(t, &p)
		if p.Code != string(abi.InvalidArgument) || !strings.Contains(p.Hint, "default_tool") || !strings.Contains(p.Hint, "remember") {
			t.Errorf("POST %s = %s; want a hint that names the tools and default_tool", path, r)
		}
	}
	if r := s.want(200, "operator", "GET", "/api/v1/sessions", ""); !contains(r, `{"items":[]}`) {
		t.Errorf("there is a session: %s", r)
	}
}

// The type following is a stream that the test reads line by line.
type following struct {
	*http.Response
	lines *bufio.Scanner
}

// follow opens a stream.
func (s *service) follow(who, path, body string) *following {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), time.Minute)
	s.t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, "POST", s.server.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+who)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != 200 {
		s.t.Fatalf("POST %s = %s", path, response.Status)
	}
	return &following{response, bufio.NewScanner(response.Body)}
}

// until reads up to the next line that starts with a prefix and returns this line.
func (f *following) until(t *testing.T, prefix string) string {
	t.Helper()
	for f.lines.Scan() {
		if strings.HasPrefix(f.lines.Text(), prefix) {
			return f.lines.Text()
		}
	}
	t.Fatalf("the stream ended before a line %q: %v", prefix, f.lines.Err())
	return ""
}

const endless = `{"tool":"wait","user_id":"ann","timeout_ms":60000}`

// oneAtATime configures a service that executes only one run at a time.
func oneAtATime(t *testing.T) func(*tenants.Options) {
	gate, err := admission.New(admission.Limits{Running: 1})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *tenants.Options) { o.Host.Gate = gate }
}

// An idle stream sends comments while its run is queued and while the run executes.
func TestHeartbeat(t *testing.T) {
	s := newServiceOf(t, oneAtATime(t), func(o *httpapi.Options) { o.Heartbeat = 5 * time.Millisecond })
	running := s.follow("runtime", "/api/v1/runs/stream", endless)
	running.until(t, "event: log")
	running.until(t, ":")
	queued := s.follow("runtime", "/api/v1/runs/stream", endless)
	queued.until(t, "event: run")
	queued.until(t, ":")
	queued.until(t, ":")
	if r := s.want(200, "runtime", "GET", "/api/v1/runs/"+queued.Header.Get("Run-Id"), ""); !contains(r, `"status":"queued"`) {
		t.Errorf("the queued run = %s", r)
	}
}

// Callers that may run code can stream a run of code in the same way as a run of a tool.
func TestStreamCode(t *testing.T) {
	s := newService(t)
	const body = `{"language":"javascript","code":"console.log('a line'); return 7"}`
	r := s.want(200, "coder", "POST", "/api/v1/runs/code/stream", body)
	for _, want := range []string{"event: run\ndata: {\"run_id\":\"" + r.Header.Get("Run-Id") + "\"}\n\n", "event: log\n", "a line", "event: result\n", `"output":7`} {
		if !contains(r, want) {
			t.Errorf("the stream has no %q: %s", want, r)
		}
	}
	s.want(403, "runtime", "POST", "/api/v1/runs/code/stream", body)
}

// A run can be found by its id while it runs and after it has ended. A run can also be canceled. A
// canceled run stores nothing.
func TestRunByID(t *testing.T) {
	s := newService(t)
	f := s.follow("ann", "/api/v1/runs/stream", endless)
	id := f.Header.Get("Run-Id")
	if line := f.until(t, "data:"); line != `data: {"run_id":"`+id+`"}` || id == "" {
		t.Errorf("the stream begins with %s; want the id %q", line, id)
	}
	f.until(t, "event: log")
	path := "/api/v1/runs/" + id
	var run apitypes.Run
	s.want(200, "ann", "GET", path, "").into(t, &run)
	if run.ID != id || run.Tool != "wait" || run.User != "ann" || run.Status != "running" || run.Started == nil || run.Result != nil {
		t.Errorf("the run in progress = %+v", run)
	}
	s.want(404, "bob", "GET", path, "")
	s.want(404, "runtime", "POST", path+"/cancel", "")
	s.want(200, "operator", "POST", path+"/cancel", "")
	f.until(t, "event: result")
	if line := f.until(t, "data:"); !strings.Contains(line, `"code":"cancelled"`) {
		t.Errorf("the stream ends with %s", line)
	}
	s.want(200, "ann", "GET", path, "").into(t, &run)
	if run.Status != "done" || run.Ended == nil || run.Expires == nil || !run.Cancelled || run.Result == nil || run.Result.Error.Code != abi.Cancelled {
		t.Errorf("the cancelled run = %+v", run)
	}
	s.want(200, "ann", "POST", path+"/cancel", "")
	s.want(404, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", "")
}

// If the response of a run is lost, its Result can be fetched with the same credentials.
func TestResultByID(t *testing.T) {
	s := newService(t)
	r := s.want(200, "runtime", "POST", "/api/v1/runs", `{"tool":"remember","user_id":"ann"}`)
	path := "/api/v1/runs/" + r.Header.Get("Run-Id")
	if r := s.want(200, "runtime", "GET", path, ""); !contains(r, `"output":{"visits":1,`) || !contains(r, `"status":"done"`) {
		t.Errorf("the run = %s", r)
	}
	s.want(404, "ann", "GET", path, "") // ann cannot see runs of the platform
	r = s.want(404, "runtime", "POST", "/api/v1/runs", `{"tool":"nothing"}`)
	var p apitypes.Problem
	r.into(t, &p)
	if r := s.want(200, "runtime", "GET", "/api/v1/runs/"+p.RunID, ""); !contains(r, `"code":"not_found"`) {
		t.Errorf("the run that did not start = %s", r)
	}
	s.want(200, "operator", "DELETE", "/api/v1/users/ann", "")
	s.want(404, "runtime", "GET", path, "")
}

// A run that is canceled in the queue does not start.
func TestCancelQueued(t *testing.T) {
	s := newServiceOf(t, oneAtATime(t))
	s.follow("runtime", "/api/v1/runs/stream", endless).until(t, "event: log")
	queued := s.follow("runtime", "/api/v1/runs/stream", endless)
	queued.until(t, "event: run")
	s.want(200, "runtime", "POST", "/api/v1/runs/"+queued.Header.Get("Run-Id")+"/cancel", "")
	queued.until(t, "event: problem")
	if line := queued.until(t, "data:"); !strings.Contains(line, `"status":409`) || !strings.Contains(line, `"code":"cancelled"`) {
		t.Errorf("the stream ends with %s", line)
	}
}

// A client notices that the handler has aborted the response.
func TestAbortedResponse(t *testing.T) {
	s := newService(t)
	s.api.Handle("GET /broken", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("a part"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	response, err := http.Get(s.server.URL + "/broken")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("the client reads %q, and no error", text)
	}
}

// All times in responses are in UTC, and have at most microsecond precision.
func TestTimesHaveMicroseconds(t *testing.T) {
	s := newService(t)
	answers := ""
	for _, r := range []reply{
		s.want(200, "runtime", "POST", "/api/v1/sessions/s/runs", `{"tool":"remember","user_id":"ann"}`),
		s.want(200, "runtime", "GET", "/api/v1/sessions/s?user_id=ann", ""),
		s.want(200, "operator", "GET", "/api/v1/stores/prefs/record?user_id=ann", ""),
		s.want(200, "operator", "GET", "/api/v1/stores/sessionMeta/record?user_id=ann&session_id=s", ""),
		s.want(200, "operator", "GET", "/api/v1/ledger", ""),
	} {
		answers += string(r.body)
		if id := r.Header.Get("Run-Id"); id != "" {
			answers += string(s.want(200, "runtime", "GET", "/api/v1/runs/"+id, "").body)
		}
	}
	found := regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`).FindAllString(answers, -1)
	form := regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z"$`)
	for _, at := range found {
		if !form.MatchString(at) {
			t.Errorf("a time is %s", at)
		}
	}
	if len(found) < 10 {
		t.Errorf("%d times were found in %s", len(found), answers)
	}
}
