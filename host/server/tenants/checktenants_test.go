package tenants_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/openai"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// TestServeMovedStoreOfClosedTenant changes the access of a store. A tenant without an open host
// has records in the store. The app must be rejected on reload and at startup.
func TestServeMovedStoreOfClosedTenant(t *testing.T) {
	backend := mem.New()
	on := func(o *tenants.Options) { o.Host.Backend = backend }
	first := serve(t, count, on)
	look(t, first, "acme")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	moved := func(when string, err error) {
		t.Helper()
		if e, ok := errors.AsType[*memory.ScopeChangedError](err); !ok || e.Store != "notes" || !strings.Contains(err.Error(), `"acme"`) {
			t.Errorf("%s: Serve = %v; want a ScopeChangedError of notes that names the tenant", when, err)
		}
	}
	again := serve(t, count, on) // no host is open yet
	moved("a reload", again.Serve(t.Context(), []*app.App{load(t, "application")}))
	if got := look(t, again, "acme"); got != `{"seen":true}` {
		t.Errorf("after a rejected reload ann finds %s", got)
	}
	if got := look(t, again, "other"); got != "null" {
		t.Errorf("after a rejected reload another tenant finds %s", got)
	}
	restarted := tenants.New(tenants.Options{Host: host.Options{Backend: backend}})
	defer restarted.Close()
	moved("a start", restarted.Serve(t.Context(), []*app.App{load(t, "application")}))
}

// TestServeLogsVectorsOfAnotherModel starts a service. The service must log each collection whose
// vectors are from another model, but must also serve the app.
func TestServeLogsVectorsOfAnotherModel(t *testing.T) {
	declared := func(embedding string) *app.App {
		loaded, problems := app.Load(fstest.MapFS{"app.yaml": {Data: []byte(
			"app: shop\nmemory:\n  kb: {kind: collection, access: application, embedding: " + embedding + "}\n")}}, "app.yaml")
		if loaded == nil {
			t.Fatal(problems)
		}
		return loaded
	}
	config, err := model.ReadConfig("models.yaml", []byte("embeddings:\n  small: {base_url: \"http://127.0.0.1:1\", model: tiny, dim: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	models, err := model.NewSet(config, map[string]model.Factory{"openai": openai.Factory()}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	backend := mem.New()
	start := func(served *app.App, log io.Writer) *tenants.Apps {
		apps := tenants.New(tenants.Options{Host: host.Options{Backend: backend, Models: models, Logger: slog.New(slog.NewTextHandler(log, nil))}})
		t.Cleanup(func() { _ = apps.Close() })
		if err := apps.Serve(t.Context(), []*app.App{served}); err != nil {
			t.Fatal(err)
		}
		return apps
	}
	h, release, err := start(declared("lexical"), io.Discard).Host(t.Context(), "acme", "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := host.CollectionsOf(h).Remember(t.Context(), host.Caller{Tenant: "acme"}, "kb", host.NewEntry{Content: json.RawMessage(`"a cup"`)}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	start(declared("lexical"), &log)
	if log.Len() > 0 {
		t.Errorf("with the same model, the log is %s", log.String())
	}
	start(declared("small"), &log)
	for _, want := range []string{"level=WARN", "tenant=acme", "app=shop", "collection=kb", "lexical-1", "openai:tiny:3", "toolrun collection reembed kb"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not contain %q: %s", want, log.String())
		}
	}
}

// TestFailureToOpenIsLogged checks that a failure to open an app for a tenant is logged once, not
// for each request.
func TestFailureToOpenIsLogged(t *testing.T) {
	backend := mem.New()
	var log bytes.Buffer
	late := serve(t, count, func(o *tenants.Options) {
		o.Host.Backend, o.Host.Logger = backend, slog.New(slog.NewJSONHandler(&log, nil))
	})
	if err := late.Serve(t.Context(), []*app.App{load(t, "application")}); err != nil { // there are no records yet
		t.Fatal(err)
	}
	look(t, serve(t, count, func(o *tenants.Options) { o.Host.Backend = backend }), "acme")
	for range 20 {
		if _, _, err := late.Host(t.Context(), "acme", "shop"); !errors.Is(err, abi.Unavailable) {
			t.Fatalf("Host = %v; want unavailable", err)
		}
	}
	var line struct{ Level, Tenant, App, Store string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Level != "ERROR" || line.Tenant != "acme" || line.App != "shop" || line.Store != "notes" {
		t.Errorf("after 20 requests the log is %q, %v; want one ERROR with tenant, app and store", log.String(), err)
	}
}
