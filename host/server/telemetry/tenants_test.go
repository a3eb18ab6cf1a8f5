package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/server/telemetry"
)

// TestLogLinesNameTheTenant checks log lines with tenants and actors. End users must not appear as
// actors.
func TestLogLinesNameTheTenant(t *testing.T) {
	var text bytes.Buffer
	tel := newTelemetry(t, telemetry.Options{Logger: slog.New(slog.NewJSONHandler(&text, nil))})
	h := open(t, count, tel.Observer("shop"))
	for _, tt := range []struct {
		caller                 host.Caller
		tenant, actor, outcome string
		key                    string
	}{
		{caller: host.Caller{Tenant: "acme", User: "ann", Actor: "backend"}, tenant: "acme", actor: "backend", outcome: "executed", key: "k"},
		{caller: host.Caller{Tenant: "acme", User: "ann", Actor: "backend"}, tenant: "acme", actor: "backend", outcome: "repeated", key: "k"},
		{caller: host.Caller{Tenant: "globex", User: "ann", Actor: "ann", ActorIsUser: true}, tenant: "globex", outcome: "executed"},
		{caller: host.Caller{}, tenant: host.DefaultTenant, outcome: "executed"},
	} {
		text.Reset()
		if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit", Caller: tt.caller, Key: tt.key}); err != nil {
			t.Fatal(err)
		}
		var line struct{ Tenant, Actor, Outcome string }
		if err := json.Unmarshal(text.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, text.String())
		}
		if line.Tenant != tt.tenant || line.Actor != tt.actor || line.Outcome != tt.outcome || strings.Contains(text.String(), "ann") {
			t.Errorf("the line of a run of %+v is %s; want tenant %q, actor %q, outcome %q", tt.caller, text.String(), tt.tenant, tt.actor, tt.outcome)
		}
	}
}

// TestMetricsByTenant lists some tenants in the options, and allows one additional tenant.
func TestMetricsByTenant(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{Tenants: []string{"acme"}, FirstTenants: 1})
	h := open(t, count, tel.Observer("shop"))
	for _, tenant := range []string{"other", "globex", "acme", "initech", "acme", "globex"} {
		if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit", Caller: host.Caller{Tenant: tenant}}); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = h.Run(t.Context(), host.Invocation{Tool: "visit", Caller: host.Caller{Tenant: "acme"}, Input: json.RawMessage(`7`)})
	wantMetrics(t, tel, `
# HELP toolrun_tenant_runs_in_progress Runs in progress.
# TYPE toolrun_tenant_runs_in_progress gauge
toolrun_tenant_runs_in_progress{tenant="acme"} 0
toolrun_tenant_runs_in_progress{tenant="globex"} 0
toolrun_tenant_runs_in_progress{tenant="other"} 0
# HELP toolrun_tenant_runs_total Runs, by outcome: executed, repeated, refused or not_started.
# TYPE toolrun_tenant_runs_total counter
toolrun_tenant_runs_total{outcome="executed",tenant="acme"} 2
toolrun_tenant_runs_total{outcome="executed",tenant="globex"} 2
toolrun_tenant_runs_total{outcome="executed",tenant="other"} 2
toolrun_tenant_runs_total{outcome="not_started",tenant="acme"} 1
`, "toolrun_tenant_runs_total", "toolrun_tenant_runs_in_progress")
}

// TestMetricsByTenantAreBounded checks that the options limit the number of tenants with metrics.
// By default, no tenant has metrics.
func TestMetricsByTenantAreBounded(t *testing.T) {
	for first, want := range []int{0, 2, 3, 4} { // including other
		tel := newTelemetry(t, telemetry.Options{FirstTenants: first})
		h := open(t, count, tel.Observer("shop"))
		for i := range 50 {
			if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit", Caller: host.Caller{Tenant: fmt.Sprint("tenant", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"toolrun_tenant_runs_total", "toolrun_tenant_run_cpu_seconds_total", "toolrun_tenant_run_wait_seconds_total"} {
			if got, err := testutil.GatherAndCount(tel.Registry(), name); err != nil || got != want {
				t.Errorf("%d tenants: %d series of %s, %v; want %d", first, got, name, err, want)
			}
		}
	}
}

// TestQueueTimeOfUnstartedRun observes the queue time of a run that ends before it starts.
// TestQueueTimeOfUnstartedRun also counts limited requests.
func TestQueueTimeOfUnstartedRun(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{Tenants: []string{"acme"}})
	gate, err := admission.New(admission.Limits{Running: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := openAt(t, gate, count, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit", Caller: host.Caller{Tenant: "acme"}}); err != nil { // compiles the tool
		t.Fatal(err)
	}
	other := admission.Flow{App: "shop", Tenant: "globex"}
	if err := gate.Acquire(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	defer gate.Release(other)
	_, err = h.Run(t.Context(), host.Invocation{Tool: "visit", Caller: host.Caller{Tenant: "acme"}, Timeout: 50 * time.Millisecond})
	if !errors.Is(err, abi.Timeout) {
		t.Fatalf("a run that does not start = %v; want timeout", err)
	}
	tel.Limited("acme")
	tel.Limited("globex")
	text := scrape(t, tel)
	for _, line := range []string{
		`toolrun_run_wait_seconds_count{app="shop"} 2`, `toolrun_tenant_run_wait_seconds_total{tenant="acme"} `,
		`toolrun_tenant_requests_limited_total{tenant="acme"} 1`, `toolrun_tenant_requests_limited_total{tenant="other"} 1`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the metrics do not contain %s", line)
		}
	}
}

// scrape returns the metrics in the Prometheus format.
func scrape(t *testing.T, tel *telemetry.Telemetry) string {
	t.Helper()
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}
