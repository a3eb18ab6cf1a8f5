package service

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// surface is a service of one app whose first run waits in a memory operation. The channel "begun"
// is closed when the run waits. Closing the channel "resume" lets the run continue.
type surface struct {
	*Service
	apps          *tenants.Apps
	declared      *app.App
	url           string
	begun, resume chan struct{}
	retired       chan *host.Host
}

// pause is an observer that makes the first memory operation wait.
type pause struct {
	host.NopObserver
	*surface
	first chan struct{}
}

func (p pause) MemoryCalled(context.Context, host.RunInfo, host.CallEvent) {
	select {
	case <-p.first:
		close(p.begun)
		<-p.resume
	default:
	}
}

func open(t *testing.T) *surface {
	t.Helper()
	declared, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\nmemory: {counts: {access: user}}\ntools: {count: {source: count.js, grants: {counts: readwrite}}}\n")},
		"count.js": {Data: []byte(`await memory.set_content("counts", {n: 1}); return {n: 1}`)},
	}, "app.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s := &surface{declared: declared, begun: make(chan struct{}), resume: make(chan struct{}), retired: make(chan *host.Host, 9)}
	first := make(chan struct{}, 1)
	first <- struct{}{}
	watch, err := telemetry.New(telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.apps = tenants.New(tenants.Options{
		Host:      host.Options{Backend: mem.New(), Engines: engines.InProcess(), SweepEvery: -1},
		Observers: func(string) []host.Observer { return []host.Observer{pause{surface: s, first: first}} },
		OnRetired: func(h *host.Host) {
			s.Retire(h)
			s.retired <- h
		},
	})
	s.Service, err = New(Options{
		Apps: s.apps, Telemetry: watch, Rate: 1000, Burst: 1000,
		Authenticate: func(*http.Request) (auth.Principal, error) {
			return auth.Principal{Role: auth.Operator, Tenant: "acme", Name: "test"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.serve(t)
	server := httptest.NewServer(s)
	s.url = server.URL + "/mcp?user_id=ann"
	t.Cleanup(func() {
		s.Stop(context.Background())
		server.Close()
		if err := errors.Join(s.apps.Close(), watch.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return s
}

// serve serves the app, or serves it again as a new version.
func (s *surface) serve(t *testing.T) {
	t.Helper()
	again := *s.declared // a copy of the app, which a reload would also create
	if err := s.apps.Serve(t.Context(), []*app.App{&again}); err != nil {
		t.Fatal(err)
	}
}

func (s *surface) dial(t *testing.T) (*mcp.ClientSession, error) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.url}, nil)
}

// call starts a call that waits. The returned channel receives the result of the call.
func (s *surface) call(t *testing.T) (*mcp.ClientSession, <-chan *mcp.CallToolResult) {
	t.Helper()
	client, err := s.dial(t)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	answered := make(chan *mcp.CallToolResult, 1)
	go func() {
		result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "count"})
		if err != nil {
			t.Errorf("the running call = %v; want a result", err)
		}
		answered <- result
	}()
	<-s.begun
	return client, answered
}

// refused waits until a session accepts no more requests, and returns the error of the last
// request.
func refused(t *testing.T, c *mcp.ClientSession) error {
	t.Helper()
	for {
		if _, err := c.ListTools(t.Context(), nil); err != nil {
			return err
		}
	}
}

func TestStopAnswersMCPCalls(t *testing.T) {
	s := open(t)
	client, answered := s.call(t)
	stopped := make(chan struct{})
	go func() {
		s.Stop(t.Context())
		close(stopped)
	}()
	if err := refused(t, client); !strings.Contains(err.Error(), "unavailable: the server is closing") {
		t.Errorf("a later request = %v; want unavailable", err)
	}
	if _, err := s.dial(t); err == nil {
		t.Error("a session started after Stop")
	}
	close(s.resume)
	if result := <-answered; result == nil || result.IsError {
		t.Errorf("the result of the running call = %+v; want its output", result)
	}
	<-stopped
}

func TestStopCancelsMCPCallsInTheEnd(t *testing.T) {
	s := open(t)
	client, err := s.dial(t)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = client.CallTool(t.Context(), &mcp.CallToolParams{Name: "count"})
	}()
	<-s.begun
	go func() {
		time.Sleep(10 * time.Millisecond) // the memory operation is not interrupted
		close(s.resume)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Stop(ctx)
	<-answered
}

// If a host is replaced, it completes its running calls while its successor serves new sessions.
func TestRetireAnswersMCPCalls(t *testing.T) {
	s := open(t)
	client, answered := s.call(t)
	s.serve(t)
	if err := refused(t, client); !strings.Contains(err.Error(), "unavailable: the server is closing") {
		t.Errorf("a later request = %v; want unavailable", err)
	}
	other, err := s.dial(t)
	if err != nil {
		t.Fatalf("a new session = %v; want no error", err)
	}
	defer other.Close()
	if result, err := other.CallTool(t.Context(), &mcp.CallToolParams{Name: "count"}); err != nil || result.IsError {
		t.Errorf("a call to the new host = %+v, %v; want its output", result, err)
	}
	select {
	case <-s.retired:
		t.Error("the host was released during a call")
	default:
	}
	close(s.resume)
	if result := <-answered; result == nil || result.IsError {
		t.Errorf("the result of the running call = %+v; want its output", result)
	}
	<-s.retired
}

// A host can be retired between the admission of a request and its handling.
func TestHostIsRetiredUnderARequest(t *testing.T) {
	s := open(t)
	admitted, err := s.api.Access().Admit(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp?user_id=ann", http.NoBody), auth.Run)
	if err != nil {
		t.Fatal(err)
	}
	s.serve(t)
	if h := <-s.retired; h != admitted.Host {
		t.Fatal("another host was retired")
	}
	got, err := s.mcp.of(t.Context(), admitted)
	if err != nil {
		t.Fatal(err)
	}
	s.mcp.mu.Lock()
	stale, known := s.mcp.byHost[admitted.Host], len(s.mcp.byHost)
	s.mcp.mu.Unlock()
	if known != 1 || stale == got {
		t.Fatalf("there are %d connectors, one for the retired host: %t; want one, for the new host", known, stale == got)
	}
	// The connector must release the host, even if no further request arrives for it.
	for left := 1; left > 0; time.Sleep(time.Millisecond) {
		s.mcp.mu.Lock()
		left = len(s.mcp.leaving)
		if s.mcp.byHost[admitted.Host] != nil {
			left++
		}
		s.mcp.mu.Unlock()
	}
}

// TestBodiesOfMCP sends bodies that are expensive to decode, and a truncated body.
func TestBodiesOfMCP(t *testing.T) {
	s := open(t)
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"too many values": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[` + strings.Repeat("0,", 400_000) + `0]}}`, http.StatusRequestEntityTooLarge},
		"too long":        {`{"a":"` + strings.Repeat("a", 5<<20) + `"}`, http.StatusRequestEntityTooLarge},
	} {
		r, err := http.Post(s.url, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != c.status {
			t.Errorf("%s: the status is %d; want %d", name, r.StatusCode, c.status)
		}
	}
}
