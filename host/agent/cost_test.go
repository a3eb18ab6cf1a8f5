package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

// expensiveTurn is an agent whose turns use all their evaluation steps.
type expensiveTurn struct {
	name   string
	source string
	tools  []agent.Tool
}

// loop returns an agent with steps that run in an endless loop. The variable "big" is a list of 1
// MiB, and "long" is a text of 100,000 characters.
func loop(memory, constraints, body string) string {
	return "AGENT: A\nGOAL: \"g\"\nMEMORY:\n  session:\n    - n\n      INITIAL: 0\n" + memory + constraints +
		"FLOW:\n  first:\n    REASONING: false\n    SET: long = REPEAT(\"ab \", 30000)\n    CALL: load()\n      AS: big\n    THEN: again\n" +
		"  again:\n    REASONING: false\n" + body + "    CHECK: n < 1000000\n    ON_FAIL: done\n    THEN: again\n  done:\n    REASONING: false\n    THEN: COMPLETE\n"
}

func expensiveTurns() []expensiveTurn {
	repeat := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	load := []agent.Tool{{Name: "load"}, {Name: "use"}}
	return []expensiveTurn{
		{"assignments", loop("", "", "    SET:\n"+repeat(900, "      - v# = 1\n")), load},
		{"nested assignments", loop("", "", "    SET:\n"+repeat(900, "      - o.a.b.c = n\n")), load},
		{"items of a large list", loop("", "", "    SET:\n"+repeat(900, "      - big[n] = n\n")), load},
		{"large lists", loop("", "", "    SET:\n"+repeat(900, "      - v# = big\n")), load},
		{"large texts", loop("", "", "    SET:\n"+repeat(900, "      - v = long + \"#\"\n")), load},
		{"facts", loop("  persistent:\n    - user.f\n", "", "    SET:\n"+repeat(900, "      - user.f = #\n")), load},
		{"cleared variables", loop("", "", "    CLEAR: [n"+repeat(900, ", v#")+"]\n"), load},
		{"transformed lists", loop("", "", "    TRANSFORM:\n      SOURCE: big AS x\n      INTO: l\n      FILTER: x >= 1 AND x < 8\n"), load},
		{"mapped lists", loop("", "", "    TRANSFORM:\n      SOURCE: big AS x\n      INTO: l\n      FILTER: x == 3\n      MAP:\n        a: x + 1\n      SORT_BY: a desc\n"), load},
		{"constraints", loop("", "CONSTRAINTS:\n  all:\n"+repeat(900, "    - WARN n >= 0\n      ON_FAIL: \"no\"\n"), "    SET: n = n + 1\n"), load},
		{"failed warnings", loop("", "CONSTRAINTS:\n  all:\n"+repeat(900, "    - WARN n < 0\n      ON_FAIL: \"{{long}}#\"\n"), "    SET: n = n + 1\n"), load},
		{"inputs of calls", loop("", "CONSTRAINTS:\n  all:\n"+repeat(900, "    - WARN x IS SET BEFORE calling use\n      ON_FAIL: \"no\"\n"),
			"    TRANSFORM:\n      SOURCE: big AS x\n      INTO: x\n    CALL: use(x: big)\n"), load},
		{"recalls", loop("  recall:\n"+repeat(900, "    - ON: step:enter:*\n      ACTION: inject_context\n      PATHS: [user.big]\n"), "", "    SET: n = n + 1\n"), load},
		{"unique items", loop("  remember:\n"+repeat(900, "    - WHEN: true\n      STORE:\n        value: 5\n        target: user.big\n        operation: append\n        unique: true\n"), "", "    SET: n = 1000000\n"), load},
		{"rendered lists", loop("", "", "    SET: n = n + 1\n    RESPOND: \"{{#each big}}{{#if this == 7}}x{{/if}}{{/each}}\"\n"), load},
		{"patterns", loop("", "", "    SET:\n"+repeat(900, "      - v = long matches \"(a?){30}x#\"\n")), load},
		{"personal data", loop("", "", "    SET:\n"+repeat(900, "      - v = CONTAINS_PII(long)\n")), load},
		{"sensitive values", strings.Replace(loop("", "", "    SET:\n"+repeat(900, "      - n = big\n")), "      INITIAL: 0\n", "      INITIAL: 0\n      SENSITIVE: true\n", 1), load},
	}
}

// perform performs the turn. The turn fails because it has used all its evaluation steps.
func (x expensiveTurn) perform(t testing.TB, set *agent.Set) error {
	e := agenttest.New()
	var big []any
	for i := range 80_000 {
		big = append(big, float64(i%9))
	}
	e.SetStored("user.big", big, 0, "")
	e.Tools["load"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return big, nil }
	e.Tools["use"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) { return nil, nil }
	_, err := e.Turn(context.Background(), set, agent.Request{Message: "go", HasMessage: true})
	if err != nil && !errors.Is(err, abi.CallLimit) {
		t.Fatalf("%s: %v", x.name, err)
	}
	return err
}

// BenchmarkExpensiveTurns measures the slowest turns that the limits allow.
func BenchmarkExpensiveTurns(b *testing.B) {
	for _, x := range expensiveTurns() {
		b.Run(x.name, func(b *testing.B) {
			set := compile(b, x.tools, x.source)
			for b.Loop() {
				err := x.perform(b, set)
				if b.N == 1 {
					b.Log(err)
				}
			}
		})
	}
}

// A canceled turn ends during the evaluation of an expression, or between two actions.
func TestCanceledTurns(t *testing.T) {
	for _, source := range []string{
		"    CALL: load()\n      AS: list\n    TRANSFORM:\n      SOURCE: list AS x\n      INTO: l\n      FILTER: list == list\n",
		"    CALL: load()\n      AS: list\n    CHECK: list IS SET\n    SET: x = 5\n",
	} {
		set := compile(t, []agent.Tool{{Name: "load"}}, "AGENT: A\nFLOW:\n  one:\n    REASONING: false\n"+source+"    THEN: COMPLETE\n")
		ctx, cancel := context.WithCancel(context.Background())
		e := agenttest.New()
		e.Tools["load"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) {
			cancel()
			return make([]any, 1000), nil
		}
		_, err := set.Turn(ctx, e, agent.Request{Message: "go", HasMessage: true})
		if err != context.Canceled {
			t.Errorf("a canceled turn = %v; want %v", err, context.Canceled)
		}
	}
}
