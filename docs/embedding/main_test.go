package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engines"
)

func TestMain(m *testing.M) {
	engines.Main()
	os.Exit(m.Run())
}

// newPlatform opens a platform. The platform has an app that counts the visits of each user.
func newPlatform(t *testing.T) *platform {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app.yaml": "app: shop\nmemory:\n  visits: {access: user, retention: 1_month}\n" +
			"tools:\n  visit: {source: visit.js, description: Count a visit, grants: {visits: readwrite}}\n",
		"visit.js": `const last = await memory.get_content("visits");
await memory.set_content("visits", { count: (last?.count ?? 0) + 1 });
return (last?.count ?? 0) + 1;`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := open(t.Context(), dir, filepath.Join(dir, "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestPlatform(t *testing.T) {
	p := newPlatform(t)
	for _, tt := range []struct{ tenant, user, want string }{{"acme", "ann", "1"}, {"acme", "ann", "2"}, {"globex", "ann", "1"}, {"acme", "ben", "1"}} {
		answer := httptest.NewRecorder()
		p.handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/"+tt.tenant+"/"+tt.user+"/visit", strings.NewReader("{}")))
		if !strings.Contains(answer.Body.String(), `"output":`+tt.want+`,`) {
			t.Errorf("visit by %s of %s = %s; want output %s", tt.user, tt.tenant, answer.Body, tt.want)
		}
	}
	if p.meter.runs["acme"] != 3 || p.meter.runs["globex"] != 1 {
		t.Errorf("meter counts %v; want 3 runs of acme, 1 of globex", p.meter.runs)
	}
	p.meter.runs["acme"] = plan
	if _, err := p.run(t.Context(), "acme", "ann", "visit", nil); !errors.Is(err, abi.QuotaExceeded) {
		t.Errorf("run beyond the plan = %v; want quota_exceeded", err)
	}
}

// TestServeEnds checks that the function "serve" returns when its context ends. If the folder does
// not exist, the function must return an error.
func TestServeEnds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.yaml"), []byte("app: shop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel) // serve must return even if it does not listen yet
	if err := serve(ctx, dir, filepath.Join(dir, "memory.db"), "127.0.0.1:0"); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, context.Canceled) {
		t.Errorf("serve = %v; want nil or Canceled after its context ended", err)
	}
	if err := serve(t.Context(), filepath.Join(dir, "nothing"), filepath.Join(dir, "other.db"), "127.0.0.1:0"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("serve of a missing folder = %v; want ErrNotExist", err)
	}
}
