package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/report"
)

// seedCase executes one unchanged code block of a documentation page.
type seedCase struct {
	block int
	name  string
	// wrap returns a complete agent file that contains the block.
	wrap func(block string) string
	// tools contains the names of tools that return their input unchanged.
	tools []string
	// check performs turns, and compares the outcomes with the text that surrounds the code block
	// on the page.
	check func(t *testing.T, e *agenttest.Env, set *agent.Set)
}

// seedBlocks returns the code blocks of a documentation page.
func seedBlocks(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "seeds", page))
	if err != nil {
		t.Skipf("the documentation page is not in shared/seeds: %s", page)
	}
	blocks := strings.Split(string(text), "```yaml theme={null}\n")[1:]
	for i := range blocks {
		blocks[i], _, _ = strings.Cut(blocks[i], "```")
	}
	return blocks
}

// runSeedCases runs the cases for all code blocks of a page. Each code block of the page must have
// a case, if every group has cases.
func runSeedCases(t *testing.T, page string, groups ...[]seedCase) {
	blocks := seedBlocks(t, page)
	covered := make([]bool, len(blocks)+1)
	complete := true
	for _, cases := range groups {
		complete = complete && len(cases) > 0
		for _, c := range cases {
			covered[c.block] = true
			t.Run(c.name, func(t *testing.T) {
				e := agenttest.New()
				var tools []agent.Tool
				for _, name := range c.tools {
					tools = append(tools, agent.Tool{Name: name})
					e.Tools[name] = func(_ context.Context, _ *agenttest.Env, input map[string]any) (any, error) { return input, nil }
				}
				c.check(t, e, compile(t, tools, c.wrap(blocks[c.block-1])))
			})
		}
	}
	for i, ok := range covered {
		if complete && i > 0 && !ok {
			t.Errorf("the block %d of %s has no case", i, page)
		}
	}
}

// indent indents each line of a block.
func indent(block, by string) string {
	lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// agentWith returns a function for "wrap" that puts text before and after a block.
func agentWith(before, after string) func(string) string {
	return func(block string) string { return "AGENT: Sample\n" + before + block + after }
}

// inStep returns a function for "wrap" that makes a block the content of the only step of an agent.
func inStep(before, after string) func(string) string {
	return func(block string) string {
		return "AGENT: Sample\n" + before + "FLOW:\n  sample:\n    REASONING: false\n" + indent(block, "    ") + "    THEN: COMPLETE\n" + after
	}
}

// end returns a step that sends its own name as a message.
func end(name string) string {
	return "  " + name + ":\n    REASONING: false\n    RESPOND: \"" + name + "\"\n    THEN: COMPLETE\n"
}

// starting returns an ON_START that sets variables.
func starting(assignments ...string) string {
	return "ON_START:\n  SET:\n    - " + strings.Join(assignments, "\n    - ") + "\n"
}

// wantVariables compares session variables.
func wantVariables(t *testing.T, o *report.Outcome, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got, ok := o.Variables[name]; !ok || !reflect.DeepEqual(got, value) {
			t.Errorf("%s = %#v (set: %v); want %#v", name, got, ok, value)
		}
	}
}

func wantMessages(t *testing.T, o *report.Outcome, want ...string) {
	t.Helper()
	if strings.Join(o.Messages, "\n--\n") != strings.Join(want, "\n--\n") {
		t.Errorf("messages = %q; want %q", o.Messages, want)
	}
}
