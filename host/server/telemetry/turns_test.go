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

// Turns have separate metrics. The log line of a turn contains the name of the agent, but no
// message.
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
	first := repeatTurn(t, h)
	if text := lines.String(); strings.Count(text, `"repeats":"`+first+`"`) != 1 || strings.Count(text, `"run_id":"`+first+`"`) != 1 {
		t.Errorf("the log is\n%s\nwant one line that repeats %s", text, first)
	}
	wantMetrics(t, tel, `
# HELP toolrun_turns_total Turns of agents. The code is the fault code, or ok.
# TYPE toolrun_turns_total counter
toolrun_turns_total{agent="",app="shop",code="not_found"} 10
toolrun_turns_total{agent="Guide",app="shop",code="ok"} 4
`, "toolrun_turns_total", "toolrun_runs_total")
	if text := lines.String(); strings.Count(text, `"agent":"Guide"`) != 4 || strings.Contains(text, "private") || strings.Contains(text, "agent3") || strings.Contains(text, `"tool"`) {
		t.Errorf("the log is\n%s\nwant four lines with the agent, no tool, and no values of the caller", text)
	}
}

// repeatTurn performs a turn twice with the same key, and returns the id of the turn.
func repeatTurn(t *testing.T, h *host.Host) (id string) {
	t.Helper()
	turn := host.Turn{Agent: "Guide", Caller: host.Caller{User: "ann", Session: "s2"}, Key: "k"}
	first, err := h.Agents().Turn(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.Agents().Turn(t.Context(), turn); err != nil || again.TurnID != first.TurnID {
		t.Fatalf("a repeated turn = %+v, %v; want the result of %s", again, err, first.TurnID)
	}
	return first.TurnID
}
