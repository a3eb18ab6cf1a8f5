package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

// The message of a fault does not contain the position of the fault. Only the fields of the fault
// contain the position.
func TestPositionsOfFaults(t *testing.T) {
	const start = "AGENT: A\nSTRICT_TYPES: true\nMEMORY:\n  session:\n    - typed\n      TYPE: number\nFLOW:\n  one:\n    REASONING: false\n"
	for _, tt := range []struct {
		source, message string
		line            int
	}{
		{"    SET: x = REPEAT(\"a\", 1000000)\n", "a text is longer than 100000 characters", 10},
		{"    SET: typed = \"a\"\n", "typed is declared as number, but the new value is of the type string", 10},
		{"    THEN: two\n  two:\n    REASONING: false\n    WHEN: true\n    THEN: one\n", "the turn runs more than 100 steps without waiting for input: one -> two -> one", 8},
		{"    CALL: pay()\n", "the call to pay failed: declined", 10},
		{"    CALL: crash()\n", "the call to crash at a.abl:10:11 failed: undefined", 3},
	} {
		set := compile(t, []agent.Tool{{Name: "pay"}, {Name: "crash"}}, start+tt.source)
		e := agenttest.New()
		e.Tools["pay"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) {
			return nil, abi.Faultf(abi.ToolError, "declined")
		}
		e.Tools["crash"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) {
			return nil, &abi.Fault{Code: abi.ToolError, Message: "undefined", File: "crash.js", Line: 3, Column: 7}
		}
		_, err := e.Say(context.Background(), set, "x")
		if f := abi.FaultOf(err); f == nil || !strings.HasPrefix(f.Message, tt.message) || f.File == "" || f.Line != tt.line {
			t.Errorf("the fault of %q is %v; want %q in line %d", tt.source, f, tt.message, tt.line)
		}
	}
}
