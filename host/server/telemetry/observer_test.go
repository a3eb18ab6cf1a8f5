package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/telemetry"
)

func TestRunsAreCounted(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	fail := false
	h := open(t, func(ctx context.Context, g engine.Host) (engine.Output, error) {
		if fail {
			return engine.Output{}, abi.Faultf(abi.ToolError, "no")
		}
		_ = g.Log(abi.LevelWarn, "careful")
		_ = g.Log("shouting", "an engine's own level")
		_, _ = g.Call(ctx, get("notes")) // not granted
		return count(ctx, g)
	}, tel.Observer("shop"))
	for range 3 {
		_, _ = h.Run(t.Context(), host.Invocation{Tool: "visit"})
	}
	_, _ = h.Run(t.Context(), host.Invocation{Tool: "visit", Input: json.RawMessage(`{"page": 1}`)})
	_, _ = h.Run(t.Context(), host.Invocation{Tool: "no such tool"})
	fail = true
	_, _ = h.Run(t.Context(), host.Invocation{Tool: "visit"})
	wantMetrics(t, tel, `
# HELP toolrun_effects_total Records that runs read, set and deleted.
# TYPE toolrun_effects_total counter
toolrun_effects_total{app="shop",effect="read",tool="visit"} 3
toolrun_effects_total{app="shop",effect="set",tool="visit"} 3
# HELP toolrun_log_lines_total Lines that tools logged.
# TYPE toolrun_log_lines_total counter
toolrun_log_lines_total{app="shop",level="other",tool="visit"} 3
toolrun_log_lines_total{app="shop",level="warn",tool="visit"} 3
# HELP toolrun_memory_calls_total Memory calls by tools. The code is the fault code, ok, or ended if the call ended the attempt.
# TYPE toolrun_memory_calls_total counter
toolrun_memory_calls_total{app="shop",code="not_found",op="get_content"} 3
toolrun_memory_calls_total{app="shop",code="ok",op="get_content"} 3
toolrun_memory_calls_total{app="shop",code="ok",op="set_content"} 3
# HELP toolrun_runs_in_progress Runs in progress.
# TYPE toolrun_runs_in_progress gauge
toolrun_runs_in_progress{app="shop"} 0
# HELP toolrun_runs_total Runs. The code is the fault code, or ok.
# TYPE toolrun_runs_total counter
toolrun_runs_total{app="shop",code="input_invalid",tool="visit"} 1
toolrun_runs_total{app="shop",code="not_found",tool=""} 1
toolrun_runs_total{app="shop",code="ok",tool="visit"} 3
toolrun_runs_total{app="shop",code="tool_error",tool="visit"} 1
`, "toolrun_runs_total", "toolrun_memory_calls_total", "toolrun_effects_total", "toolrun_log_lines_total", "toolrun_runs_in_progress")
}

// Another run causes the conflict by changing a record that the first attempt has read.
func TestConflictsAreCounted(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	var h *host.Host
	executed := 0
	h = open(t, func(ctx context.Context, g engine.Host) (engine.Output, error) {
		if _, err := g.Call(ctx, get("visits")); err != nil {
			return engine.Output{}, err
		}
		if executed++; executed == 1 {
			if _, _, err := h.Stores().Do(ctx, host.Caller{}, memory.Operator(), set("visits", `{"count": 7}`)); err != nil {
				return engine.Output{}, err
			}
		}
		_, err := g.Call(ctx, set("visits", `{"count": 1}`))
		return engine.Output{}, err
	}, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit"}); err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, tel, `
# HELP toolrun_run_attempts Attempts per run.
# TYPE toolrun_run_attempts histogram
toolrun_run_attempts_bucket{app="shop",tool="visit",le="1"} 0
toolrun_run_attempts_bucket{app="shop",tool="visit",le="2"} 1
toolrun_run_attempts_bucket{app="shop",tool="visit",le="3"} 1
toolrun_run_attempts_bucket{app="shop",tool="visit",le="5"} 1
toolrun_run_attempts_bucket{app="shop",tool="visit",le="10"} 1
toolrun_run_attempts_bucket{app="shop",tool="visit",le="30"} 1
toolrun_run_attempts_bucket{app="shop",tool="visit",le="+Inf"} 1
toolrun_run_attempts_sum{app="shop",tool="visit"} 2
toolrun_run_attempts_count{app="shop",tool="visit"} 1
# HELP toolrun_run_conflicts_total Attempts that were repeated because other runs changed what they had read.
# TYPE toolrun_run_conflicts_total counter
toolrun_run_conflicts_total{app="shop",tool="visit"} 1
`, "toolrun_run_conflicts_total", "toolrun_run_attempts")
}

// The usage in a repeated Result was already counted for the earlier run.
func TestRepeatedRunsAreNotCountedTwice(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	h := open(t, count, tel.Observer("shop"))
	for range 3 {
		if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit", Key: "k"}); err != nil {
			t.Fatal(err)
		}
	}
	wantMetrics(t, tel, `
# HELP toolrun_effects_total Records that runs read, set and deleted.
# TYPE toolrun_effects_total counter
toolrun_effects_total{app="shop",effect="read",tool="visit"} 1
toolrun_effects_total{app="shop",effect="set",tool="visit"} 1
# HELP toolrun_runs_repeated_total Runs that returned the result of an earlier run with the same idempotency key.
# TYPE toolrun_runs_repeated_total counter
toolrun_runs_repeated_total{app="shop",tool="visit"} 2
# HELP toolrun_runs_total Runs. The code is the fault code, or ok.
# TYPE toolrun_runs_total counter
toolrun_runs_total{app="shop",code="ok",tool="visit"} 3
`, "toolrun_runs_total", "toolrun_runs_repeated_total", "toolrun_effects_total")
}

// A dry run reads a record, but does not store anything.
func TestDryRunsHaveNoEffects(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	h := open(t, count, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit", DryRun: true}); err != nil {
		t.Fatal(err)
	}
	wantMetrics(t, tel, `
# HELP toolrun_effects_total Records that runs read, set and deleted.
# TYPE toolrun_effects_total counter
toolrun_effects_total{app="shop",effect="read",tool="visit"} 1
`, "toolrun_effects_total")
}

// refuser rejects all runs with the error err. The code of err can be a code that package abi does
// not define.
type refuser struct {
	host.NopObserver
	err error
}

func (r refuser) BeforeRun(context.Context, host.RunInfo) error { return r.err }

func TestRunsInProgress(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	inside := 0.0
	h := open(t, func(context.Context, engine.Host) (engine.Output, error) {
		inside = value(t, tel, "toolrun_runs_in_progress")
		return engine.Output{}, nil
	}, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit"}); err != nil {
		t.Fatal(err)
	}
	for _, observers := range [][]host.Observer{
		{refuser{err: errors.New("no")}, tel.Observer("before")},
		{tel.Observer("after"), refuser{err: &abi.Fault{Code: "made_up"}}},
	} {
		if _, err := open(t, count, observers...).Run(t.Context(), host.Invocation{Tool: "visit"}); err == nil {
			t.Fatal("a rejected run has no error")
		}
	}
	if inside != 1 {
		t.Errorf("runs in progress, in a run = %v; want 1", inside)
	}
	wantMetrics(t, tel, `
# HELP toolrun_runs_in_progress Runs in progress.
# TYPE toolrun_runs_in_progress gauge
toolrun_runs_in_progress{app="after"} 0
toolrun_runs_in_progress{app="shop"} 0
# HELP toolrun_runs_total Runs. The code is the fault code, or ok.
# TYPE toolrun_runs_total counter
toolrun_runs_total{app="after",code="other",tool="visit"} 1
toolrun_runs_total{app="before",code="access_denied",tool="visit"} 1
toolrun_runs_total{app="shop",code="ok",tool="visit"} 1
`, "toolrun_runs_in_progress", "toolrun_runs_total")
}

// value returns the value of a gauge that has only one series.
func value(t *testing.T, tel *telemetry.Telemetry, name string) float64 {
	t.Helper()
	families, err := tel.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name && len(f.Metric) == 1 {
			return f.Metric[0].Gauge.GetValue()
		}
	}
	t.Fatalf("the series %s is missing or not unique", name)
	return 0
}

// Values that callers and guests choose add no series.
func TestCardinality(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	var call abi.Call
	h := open(t, func(ctx context.Context, g engine.Host) (engine.Output, error) {
		_, _ = g.Call(ctx, call)
		return count(ctx, g)
	}, tel.Observer("shop"))
	run := func(i int) {
		call = abi.Call{Op: fmt.Sprint("op", i), Args: []json.RawMessage{quoted(fmt.Sprint("store", i))}}
		caller := host.Caller{User: fmt.Sprint("user", i), Session: fmt.Sprint("session", i), Tenant: fmt.Sprint("tenant", i)}
		if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit", Caller: caller, Key: fmt.Sprint("key", i)}); err != nil {
			t.Fatal(err)
		}
		_, _ = h.Run(t.Context(), host.Invocation{Tool: fmt.Sprint("tool", i), Caller: caller})
	}
	run(0)
	before := series(t, tel)
	for i := range 1000 {
		run(i + 1)
	}
	if after := series(t, tel); after != before {
		t.Errorf("series after 1,000 more users = %d; want %d as after the first one", after, before)
	}
	if got, err := testutil.GatherAndCount(tel.Registry(), "toolrun_memory_calls_total"); err != nil || got != 3 {
		t.Errorf("series of memory calls = %d, %v; want 3: get, set and other", got, err)
	}
}

// series returns the number of toolrun's series.
func series(t *testing.T, tel *telemetry.Telemetry) (n int) {
	t.Helper()
	families, err := tel.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "toolrun_") {
			n += len(f.Metric)
		}
	}
	return n
}

func TestLogLines(t *testing.T) {
	var text bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&text, nil))
	tel := newTelemetry(t, telemetry.Options{Logger: logger})
	var answer error
	h := open(t, func(_ context.Context, g engine.Host) (engine.Output, error) {
		_ = g.Log(abi.LevelInfo, "ann's secret")
		return engine.Output{Output: json.RawMessage(`"ann's secret"`)}, answer
	}, tel.Observer("shop"))
	for _, tt := range []struct {
		tool, key   string
		answer      error
		level, code string
		repeats     bool
	}{
		{tool: "visit", key: "ann's key", level: "INFO", code: "ok"},
		{tool: "visit", key: "ann's key", level: "INFO", code: "ok", repeats: true},
		{tool: "visit", answer: abi.Faultf(abi.ToolError, "ann's secret"), level: "INFO", code: "tool_error"},
		{tool: "visit", answer: errors.New("ann's secret"), level: "WARN", code: "internal"},
		{tool: "visit", answer: &engine.NotStartedError{Fault: abi.Faultf(abi.Unavailable, "ann's secret")}, level: "WARN", code: "unavailable"},
		{tool: "ann's tool", level: "INFO", code: "not_found"},
	} {
		text.Reset()
		answer = tt.answer
		result, _ := h.Run(t.Context(), host.Invocation{
			Tool: tt.tool, Key: tt.key, Caller: host.Caller{User: "ann", Session: "ann.session"}, Input: json.RawMessage(`{"page":"ann's page"}`),
		})
		var line struct {
			Level, Msg, App, Tool, Code, Repeats string
			RunID                                string `json:"run_id"`
			MS                                   float64
			Attempts                             int
		}
		if err := json.Unmarshal(text.Bytes(), &line); err != nil {
			t.Fatalf("%s %v: the log is not one line: %v\n%s", tt.tool, tt.answer, err, text.String())
		}
		if line.Level != tt.level || line.Code != tt.code || line.App != "shop" || line.Msg != "run" || line.Attempts != result.Attempts || line.MS < 0 {
			t.Errorf("%s %v: line = %s; want level %s, code %s, attempts %d", tt.tool, tt.answer, text.String(), tt.level, tt.code, result.Attempts)
		}
		if id := line.RunID; tt.repeats != (line.Repeats == result.RunID) || !tt.repeats && id != result.RunID || !strings.HasPrefix(id, "run") {
			t.Errorf("%s %v: ids in the line = %q, %q; the result's is %q", tt.tool, tt.answer, id, line.Repeats, result.RunID)
		}
		if strings.Contains(text.String(), "ann") {
			t.Errorf("%s %v: the line contains the user: %s", tt.tool, tt.answer, text.String())
		}
	}
}

// The log line of a run that waits for an approval reports that the run is paused.
func TestPausedRunsAreLogged(t *testing.T) {
	var text bytes.Buffer
	tel := newTelemetry(t, telemetry.Options{Logger: slog.New(slog.NewJSONHandler(&text, nil))})
	tel.Observer("shop").RunEnded(t.Context(), host.RunInfo{ID: "run_1", Tool: "visit"}, &report.Result{Status: report.Paused, Approval: &report.PendingApproval{}})
	if !strings.Contains(text.String(), `"code":"paused"`) {
		t.Errorf("the log line of a paused run is %s", text.String())
	}
}

func TestSessionsAreCounted(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	o := tel.Observer("shop")
	o.SessionStarted(t.Context(), host.Caller{Session: "s"})
	o.SessionEnded(t.Context(), host.Caller{Session: "s"})
	o.WorkflowEnded(t.Context(), host.Caller{Workflow: "w"})
	wantMetrics(t, tel, `
# HELP toolrun_sessions_total Sessions that were started or ended explicitly, not by a run.
# TYPE toolrun_sessions_total counter
toolrun_sessions_total{app="shop",event="ended"} 1
toolrun_sessions_total{app="shop",event="started"} 1
# HELP toolrun_workflows_total Workflows that were ended explicitly.
# TYPE toolrun_workflows_total counter
toolrun_workflows_total{app="shop",event="ended"} 1
`, "toolrun_sessions_total", "toolrun_workflows_total")
}
