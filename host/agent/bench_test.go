package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

// tenSteps is an agent whose turn runs ten steps. The turn reads two facts, writes one fact, and
// evaluates a trigger and three constraints. The turn calls no tool.
func tenSteps() string {
	var b strings.Builder
	b.WriteString(`AGENT: Ten
MEMORY:
  session:
    - total
      TYPE: number
      INITIAL: 0
  persistent:
    - user.name
    - user.limit
      TYPE: number
      DEFAULT: 1000000
    - user.total
  remember:
    - WHEN: total > 0
      STORE: total -> user.total
      TTL: "90d"
CONSTRAINTS:
  always:
    - REQUIRE total <= user.limit
      ON_FAIL: "The limit is {{user.limit}}."
    - RESTRICT total < 0
      ON_FAIL: "negative"
    - WARN total < 1000000
      ON_FAIL: "much"
FLOW:
`)
	for i := range 9 {
		fmt.Fprintf(&b, "  step%d:\n    REASONING: false\n    SET: total = total + %d\n    THEN: step%d\n", i, i, i+1)
	}
	b.WriteString("  step9:\n    REASONING: false\n    RESPOND: \"Hello {{COALESCE(user.name, 'guest')}}, {{total}}.\"\n    ON_INPUT:\n      - ELSE:\n        THEN: step0\n")
	return b.String()
}

// BenchmarkTurn measures the interpreter. Its environment encodes the states of agents as JSON.
func BenchmarkTurn(b *testing.B) {
	set := compile(b, nil, tenSteps())
	e := agenttest.New()
	ctx := context.Background()
	e.SetStored("user.name", "Ann", 0, "")
	say(b, e, set, "go")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Turn(ctx, e, agent.Request{Message: "next", HasMessage: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad measures how long reading and compiling an agent of 40 steps takes.
func BenchmarkLoad(b *testing.B) {
	source := []byte(largeAgent())
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		d, problems := abl.Parse("a.abl", source)
		if problems.Err() != nil {
			b.Fatal(problems)
		}
		if _, problems := agent.Compile([]*abl.Document{d}, []agent.Tool{{Name: "search"}}); problems.Err() != nil {
			b.Fatal(problems)
		}
	}
}

func largeAgent() string {
	var b strings.Builder
	b.WriteString("AGENT: Large\nMEMORY:\n  session:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "    - v%d\n      TYPE: number\n      INITIAL: %d\n", i, i)
	}
	b.WriteString("CONSTRAINTS:\n  always:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "    - REQUIRE v%d <= 1000 AND v%d IS SET\n      ON_FAIL: \"The value {{v%d}} is too large.\"\n", i, i, i)
	}
	b.WriteString("FLOW:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "  step%d:\n    REASONING: false\n    GATHER:\n      - v%d: required\n    CALL: search(a: v%d, b: v%d + 1)\n    ON_SUCCESS:\n      SET: r%d = call_result.items[0].price\n      RESPOND: |\n        {{#each call_result.items}}\n        {{add @index 1}}. {{name}}\n        {{/each}}\n    ON_FAIL: \"Sorry.\"\n    THEN: COMPLETE\n", i, i, i, i, i)
	}
	return b.String()
}
