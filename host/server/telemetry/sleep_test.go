package telemetry_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// TestSleep checks that runs of sleep-time memory and runs of tools are counted separately.
func TestSleep(t *testing.T) {
	var lines bytes.Buffer
	tel := newTelemetry(t, telemetry.Options{Logger: slog.New(slog.NewJSONHandler(&lines, nil))})
	declared, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte("app: shop\nblocks: true\nsleep: {tool: dream}\ntools:\n  dream: {source: dream.js, description: d}\n")},
		"dream.js": {Data: []byte(`if (input.transcript[0].content === "fail") throw new Error("on purpose"); return []`)},
	}, "app.yaml")
	if declared == nil {
		t.Fatal(problems)
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	h, err := host.Open(t.Context(), host.Options{
		App: declared, Backend: mem.New(), Engines: []engine.Engine{js.New()}, SweepEvery: -1,
		Now: func() time.Time { return now }, Observers: []host.Observer{tel.Observer("shop")},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, text := range []string{"hello", "fail"} {
		c := host.Caller{User: text, Session: text}
		if _, err := h.Sessions().AddMessages(t.Context(), c, []host.Message{{Role: "user", Content: text}}); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Hour)
	if pass, err := h.Sleep().RunDue(t.Context()); err != nil || pass != (host.SleepPass{Runs: 2, Failed: 1}) {
		t.Fatalf("RunDue = %+v, %v", pass, err)
	}
	wantMetrics(t, tel, `
# HELP toolrun_sleep_runs_total Runs of sleep-time memory, by the code of the fault or ok.
# TYPE toolrun_sleep_runs_total counter
toolrun_sleep_runs_total{app="shop",code="ok"} 1
toolrun_sleep_runs_total{app="shop",code="tool_error"} 1
`, "toolrun_sleep_runs_total", "toolrun_runs_total", "toolrun_turns_total")
	if text := lines.String(); strings.Count(text, `"sleep":true`) != 2 {
		t.Errorf("the log is\n%s\nwant two lines of runs of sleep-time memory", text)
	}
}

// TestUnrecordedMessages checks the number of unrecorded messages. An unrecorded message is a
// message of a successful turn that is missing from the transcript.
func TestUnrecordedMessages(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	o := tel.Observer("shop")
	for _, ok := range []bool{true, false} {
		o.RunEnded(t.Context(), host.RunInfo{ID: "turn_1", Agent: "Echo", UnrecordedMessages: 2}, &report.Result{OK: ok})
	}
	wantMetrics(t, tel, `
# HELP toolrun_sleep_unrecorded_messages_total Messages of turns that sleep-time memory does not receive, because they exceed a quota.
# TYPE toolrun_sleep_unrecorded_messages_total counter
toolrun_sleep_unrecorded_messages_total{app="shop"} 2
`, "toolrun_sleep_unrecorded_messages_total")
}
