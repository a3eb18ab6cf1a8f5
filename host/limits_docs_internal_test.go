package host

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent"
)

// TestLimitsPage compares the defaults with docs/reference/limits.md.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if columns := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(columns) > 2 {
			rows[strings.TrimPrefix(columns[0], "| ")] = columns[1]
		}
	}
	l := Limits{}.withDefaults()
	for row, want := range map[string]string{
		"duration, including queueing and all attempts": fmt.Sprintf("%g s, at most %g s", l.Timeout.Seconds(), l.MaxTimeout.Seconds()),
		"nested calls":               fmt.Sprintf("JavaScript: %d calls. Python: %d calls of Python functions, and 2,200 calls of functions written in C. Plug-ins: their own stack", l.CallDepth, l.CallDepth),
		"input, context":             fmt.Sprintf("%d MiB and %s values each", l.InputBytes>>20, thousands(l.Values)),
		"output":                     fmt.Sprintf("%d MiB; %s values", l.OutputBytes>>20, thousands(l.Values)),
		"nesting of values":          fmt.Sprint(l.ValueNesting),
		"log":                        fmt.Sprintf("%d KiB, %s lines; then one line that reports the dropped lines", l.LogBytes>>10, thousands(l.LogLines)),
		"memory calls":               thousands(l.Calls) + " per attempt",
		"compilation, once per tool": fmt.Sprintf("%g s, or the duration of the run for code in a request; 512 MiB", l.LoadTimeout.Seconds()),

		"duration of a turn, including queueing, tools and all attempts": fmt.Sprintf("%g s", DefaultTurnTimeout.Seconds()),
		"waiting turns of one session":                                   fmt.Sprint(maxQueuedTurns),
		"message":                                                        fmt.Sprintf("%d KiB", agent.MaxMessageBytes>>10),
		"steps and handoffs":                                             fmt.Sprintf("%d steps, %d handoffs", agent.MaxSteps, agent.MaxHandoffs),
	} {
		if rows[row] != want {
			t.Errorf("docs/reference/limits.md has %q for %s; want %q", rows[row], row, want)
		}
	}
}

// thousands formats a number with commas between groups of three digits.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
