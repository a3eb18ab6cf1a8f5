package abl_test

import (
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// TestLargeFiles reads large files. The time for reading a file must not grow with the square of
// its size. Otherwise, reading 1 MiB would take minutes, and the test would exceed its time limit.
func TestLargeFiles(t *testing.T) {
	const size = 1<<20 - 100
	fill := func(prefix, unit, suffix string) string {
		return prefix + strings.Repeat(unit, (size-len(prefix)-len(suffix))/len(unit)) + suffix
	}
	flow := "AGENT: A\nFLOW:\n  one:\n    REASONING: false\n"
	triangle := &strings.Builder{}
	for i := 0; triangle.Len() < size-1500; i++ {
		triangle.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	sum := strings.Repeat("1+", 8000) + "1"
	for name, source := range map[string]string{
		"brackets":    fill("", "[\n", ""),
		"deep lists":  fill("A:\n", "  - [\n", ""),
		"templates":   fill(flow+"    RESPOND: |\n      ", "{{a}}", ""),
		"blocks":      fill(flow+"    RESPOND: |\n", "      {{#if a}}{{/if}}\n", ""),
		"sums":        fill("", "- REQUIRE "+sum+"\n", ""),
		"unknown":     fill("", "abc:\n", ""),
		"misspelled":  fill("", "MEMROY:\n", ""),
		"phases":      fill("AGENT: A\nCONSTRAINTS:\n", "  a:\n", ""),
		"constraints": fill("AGENT: A\nCONSTRAINTS:\n", "  - REQUIRE user.x == nothing\n", ""),
		"session":     fill("AGENT: A\nMEMORY:\n  session:\n", "    - x\n", ""),
		"branches":    fill(flow+"    ON_INPUT:\n", "      - IF: a\n        CALL: b(c)\n", ""),
		"steps":       fill("AGENT: A\nTOOLS: [x]\nFLOW:\n  steps:\n", "    - a\n", ""),
		"assignments": fill(flow+"    SET:\n", "      - a.b = c.d\n", ""),
		"comments":    fill("", "# x\n\n", ""),
		"triangle":    triangle.String(),
		"long line":   fill("AGENT: ", "x", ""),
		"names":       "SET: a = 1\nCLEAR: [" + strings.Repeat("a,", 30_000) + "]",
		"arguments":   "CALL: f(" + strings.Repeat("a,", 30_000) + ")",
		"text":        fill(flow+"    RESPOND: |\n", "      a\n", ""),
	} {
		t.Run(name, func(t *testing.T) {
			parse := abl.ParseFragment
			if strings.HasPrefix(source, "AGENT") {
				parse = abl.Parse
			}
			d, problems := parse("a.abl", []byte(source))
			if len(problems) > 1000 {
				t.Errorf("there are %d problems; want fewer", len(problems))
			}
			abl.CheckAll([]*abl.Document{d, d})
			if text, err := abl.Format([]byte(source)); err == nil && len(text) == 0 {
				t.Error("the formatted text is empty; want the whole file")
			}
		})
	}
}
