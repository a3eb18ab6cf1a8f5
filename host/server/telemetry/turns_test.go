package telemetry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/telemetry"
)

// Turns have metrics of their own, and a log line that names the agent but contains no message.
func TestTurns(t *testing.T) {
	var lines bytes.Buffer
	tel := newTelemetry(t, telemetry.Options{Logger: slog.New(slog.NewJSONHandler(&lines, nil))})
	h := open(t, count, tel.Observer("shop"))
	caller := host.Caller{User: "ann", Session: "s1"}
	page := "private page"
	for _, message := range []*string{nil, &page} {
		if _, err := h.Agents().Turn(t.Context(), host.Turn{Agent: "Guide", Caller: caller, Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 { // unknown names add one series
		if _, err := h.Agents().Turn(t.Context(), host.Turn{Agent: fmt.Sprint("agent", i), Caller: caller}); err == nil {
			t.Fatal("an unknown agent answers")
		}
	}
	wantMetrics(t, tel, `
# HELP toolrun_turns_total Turns of agents, by the code of the fault or ok.
# TYPE toolrun_turns_total counter
toolrun_turns_total{agent="",app="shop",code="not_found"} 10
toolrun_turns_total{agent="Guide",app="shop",code="ok"} 2
`, "toolrun_turns_total", "toolrun_runs_total")
	if text := lines.String(); strings.Count(text, `"agent":"Guide"`) != 2 || strings.Contains(text, "private") || strings.Contains(text, "agent3") {
		t.Errorf("the log is\n%s\nwant two lines with the agent, and no values of the caller", text)
	}
}
