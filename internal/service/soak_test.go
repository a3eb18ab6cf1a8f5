package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/internal/service"
)

func TestMain(m *testing.M) {
	engines.Main() // worker processes run this program
	os.Exit(m.Run())
}

var soakApp = fstest.MapFS{
	"app.yaml": {Data: []byte(`
app: soak
memory: {counts: {access: user}, cart: {access: session, retention: session}}
tools:
  count: {source: count.js, description: counts, grants: {counts: readwrite}}
  slow: {source: slow.js, description: counts slowly, grants: {counts: readwrite}}
  bomb: {source: bomb.js, description: never ends, limits: {timeout: 300ms}}
  files: {source: files.js, description: reads files, grants: {sessionMeta: read, cart: readwrite}}
`)},
	"count.js": {Data: []byte(`const c = await memory.get_content("counts"); await memory.set_content("counts", {n: (c?.n ?? 0) + 1}); return (c?.n ?? 0) + 1`)},
	"slow.js":  {Data: []byte(`const c = await memory.get_content("counts"); const end = Date.now() + Math.random() * 30; while (Date.now() < end) {} await memory.set_content("counts", {n: (c?.n ?? 0) + 1}); return (c?.n ?? 0) + 1`)},
	"bomb.js":  {Data: []byte(`const all = []; for (;;) all.push(new Array(1000).fill(0))`)},
	"files.js": {Data: []byte(`await memory.set_content("cart", {seen: true}); return (await memory.get_content("sessionMeta")).artifacts.map(a => a.text).join()`)},
}

// soakTime is the duration of the soak test. By default, the duration is only a few seconds. This
// time is enough to show that the test works.
func soakTime() time.Duration {
	if os.Getenv("TOOLRUN_SOAK") == "" {
		return 4 * time.Second
	}
	if d, err := time.ParseDuration(os.Getenv("TOOLRUN_SOAK_TIME")); err == nil {
		return d
	}
	return 30 * time.Minute
}

// running is a service with worker processes and a database, set up as in toolrun serve.
type running struct {
	url   string
	close func()
}

func start(t *testing.T) *running {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	declared, problems := app.Load(soakApp, "app.yaml")
	must(problems.Err())
	backend, err := bolt.Open(filepath.Join(t.TempDir(), "memory.db"), nil)
	must(err)
	pool, err := engines.NewPool(sandbox.Options{})
	must(err)
	readers, err := engines.NewDocumentPool(sandbox.Options{})
	must(err)
	watch, err := telemetry.New(telemetry.Options{})
	must(err)
	links, err := httpapi.NewLinks(bytes.Repeat([]byte("k"), 32), "http://127.0.0.1", nil)
	must(err)
	var surface *service.Service
	served := tenants.New(tenants.Options{
		Host:      host.Options{Backend: backend, Engines: pool.Engines(), Ledger: time.Hour},
		Observers: func(app string) []host.Observer { return []host.Observer{watch.Observer(app)} },
		FileURL:   links.Make, OnRetired: func(h *host.Host) { surface.Retire(h) },
	})
	documents := &extract.Reader{Engine: readers.Engines()[0]}
	surface, err = service.New(service.Options{
		Apps: served, Telemetry: watch, Documents: documents, Links: links,
		Authenticate: func(*http.Request) (auth.Principal, error) {
			return auth.Principal{Role: auth.Operator, Tenant: "acme", Name: "soak"}, nil
		},
	})
	must(err)
	must(served.Serve(t.Context(), []*app.App{declared}))
	server := httptest.NewServer(surface)
	return &running{server.URL, func() {
		t.Helper()
		surface.Stop(context.Background())
		server.Close()
		for _, close := range []func() error{served.Close, documents.Close, readers.Close, pool.Close, backend.Close} {
			must(close())
		}
		must(watch.Shutdown(context.Background()))
	}}
}

// ask sends a request and returns the response. The error is an error of the client, for example
// because the client has disconnected.
func (r *running) ask(ctx context.Context, method, path, contentType string, body io.Reader) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.url+path, body)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// client is one user, whose runs are sequential.
type client struct {
	t    *testing.T
	r    *running
	user string
	// acknowledged is the number of counting runs that succeeded. unknown is the number of runs of
	// the counting tool whose outcome is unknown, because the client disconnected.
	acknowledged, unknown int
	requests              *atomic.Int64
}

func (c *client) act(ctx context.Context) {
	c.requests.Add(1)
	switch n := rand.IntN(20); {
	case n < 10:
		c.count(ctx, "count", 0)
	case n < 15:
		c.count(ctx, "slow", time.Duration(rand.IntN(40))*time.Millisecond) // and disconnects
	case n < 16:
		c.want(ctx, 200, "POST", "/api/v1/runs", fmt.Sprintf(`{"tool":"bomb","user_id":%q}`, c.user))
	default:
		c.session(ctx)
	}
}

// count runs the counting tool. The argument "patience" is the time for which the client waits; 0
// means no limit.
func (c *client) count(ctx context.Context, tool string, patience time.Duration) {
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	body := strings.NewReader(fmt.Sprintf(`{"tool":%q,"user_id":%q}`, tool, c.user))
	status, text, err := c.r.ask(ctx, "POST", "/api/v1/runs", "application/json", body)
	var result report.Result
	switch {
	case err != nil:
		c.unknown++
	case status == http.StatusOK && json.Unmarshal(text, &result) == nil && result.OK:
		c.acknowledged++
	case !busy(status):
		c.t.Errorf("%s = %d %s", tool, status, text)
	}
}

// busy reports whether the service rejected a run because it had no free capacity, or because the
// run's time ended in the queue.
func busy(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout || status == http.StatusTooManyRequests
}

func (c *client) want(ctx context.Context, want int, method, path, body string) []byte {
	status, text, err := c.r.ask(ctx, method, path, "application/json", strings.NewReader(body))
	if err == nil && status != want && !busy(status) {
		c.t.Errorf("%s %s = %d %s; want %d", method, path, status, text, want)
	}
	return text
}

// session starts a session, uploads a file, reads it in a tool, and ends the session.
func (c *client) session(ctx context.Context) {
	var session struct {
		ID string `json:"session_id"`
	}
	if json.Unmarshal(c.want(ctx, 201, "POST", "/api/v1/sessions", fmt.Sprintf(`{"user_id":%q}`, c.user)), &session) != nil || session.ID == "" {
		return
	}
	path := "/api/v1/sessions/" + session.ID
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "note.txt")
	if err == nil {
		_, err = part.Write([]byte("hello"))
	}
	if err != nil || w.Close() != nil {
		c.t.Error("write a form")
	}
	if status, text, err := c.r.ask(ctx, "POST", path+"/files?user_id="+c.user, w.FormDataContentType(), &form); err == nil && status == 201 {
		body := fmt.Sprintf(`{"tool":"files","user_id":%q}`, c.user)
		if text := c.want(ctx, 200, "POST", path+"/runs", body); bytes.Contains(text, []byte(`"ok":true`)) && !bytes.Contains(text, []byte(`"output":"hello"`)) {
			c.t.Errorf("the tool reads %s", text)
		}
	} else if err == nil && !busy(status) {
		c.t.Errorf("an upload = %d %s", status, text)
	}
	c.want(ctx, 200, "DELETE", path+"?user_id="+c.user, "")
}

// check compares the stored count with the number of acknowledged runs.
func (c *client) check() {
	var record struct{ Content struct{ N int } }
	status, text, err := c.r.ask(context.Background(), "GET", "/api/v1/stores/counts/record?user_id="+c.user, "", nil)
	if err != nil || status != http.StatusOK && c.acknowledged > 0 {
		c.t.Errorf("the record of %s = %d %s, %v", c.user, status, text, err)
		return
	}
	if status == http.StatusOK && json.Unmarshal(text, &record) != nil {
		c.t.Errorf("the record of %s = %s", c.user, text)
	}
	if n := record.Content.N; n < c.acknowledged || n > c.acknowledged+c.unknown {
		c.t.Errorf("the count of %s is %d; %d runs were acknowledged, and %d have an unknown outcome", c.user, n, c.acknowledged, c.unknown)
	}
}

// usage contains measurements of the resources that a leak would increase.
type usage struct {
	goroutines, descriptors, children int
	heap                              uint64
}

func measure(t *testing.T) (u usage) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	runtime.GC()
	runtime.GC() // the measurement follows after finalizers have released resources
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.heap, u.goroutines = m.HeapAlloc, runtime.NumGoroutine()
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.descriptors = len(files)
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		if text, err := os.ReadFile(task); err == nil {
			u.children += len(bytes.Fields(text))
		}
	}
	return u
}

// TestSoak runs clients that disconnect, call endless tools, and use sessions and files. No
// acknowledged write may be lost, and nothing may leak.
func TestSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test looks for leaks in /proc, which requires Linux")
	}
	before := measure(t)
	r := start(t)
	stop, cancel := context.WithTimeout(t.Context(), soakTime())
	defer cancel()
	var all sync.WaitGroup
	var requests atomic.Int64
	clients := make([]*client, 12)
	for i := range clients {
		c := &client{t: t, r: r, user: fmt.Sprintf("user%d", i), requests: &requests}
		clients[i] = c
		all.Go(func() {
			for stop.Err() == nil && !t.Failed() {
				c.act(t.Context())
			}
		})
	}
	all.Wait()
	acknowledged, unknown := 0, 0
	for _, c := range clients {
		c.check()
		acknowledged, unknown = acknowledged+c.acknowledged, unknown+c.unknown
	}
	open := measure(t)
	r.close()
	after := measure(t)
	for range 100 { // wait for goroutines that are about to end
		if after.goroutines <= before.goroutines && after.descriptors <= before.descriptors && after.children <= before.children {
			break
		}
		time.Sleep(20 * time.Millisecond)
		after = measure(t)
	}
	const mostGrowth = 64 << 20
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.children > before.children ||
		int64(open.heap)-int64(before.heap) > mostGrowth {
		t.Errorf("leaked resources: %+v before, %+v after, %+v while open", before, after, open)
	}
	t.Logf("%d requests in %v: %d counting runs acknowledged, %d with a disconnected client; %+v before, %+v open, %+v after",
		requests.Load(), soakTime(), acknowledged, unknown, before, open, after)
}
