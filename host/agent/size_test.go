package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

// A value is refused if it contains the same large value many times. The value must be refused
// before it is encoded for the trace.
func TestTriggerOfHugeValue(t *testing.T) {
	huge := "[" + strings.TrimSuffix(strings.Repeat("big, ", 3000), ", ") + "]"
	set := compile(t, nil, "AGENT: A\nGOAL: \"g\"\nMEMORY:\n  remember:\n    - WHEN: big IS SET\n      STORE: "+huge+" -> user.huge\n"+
		"FLOW:\n  take:\n    REASONING: false\n    SET: big = REPEAT(\"x\", 100000)\n    THEN: COMPLETE\n")
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			e := agenttest.New()
			if _, err := e.Say(b.Context(), set, "x"); !errors.Is(err, abi.TooLarge) {
				b.Fatalf("Turn = %v; want too_large", err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 20<<20 {
		t.Errorf("the turn allocates %d bytes", allocated)
	}
}

// If a warning is long, it is truncated. The number of messages that a check returns is limited.
func TestLongMessagesOfConstraints(t *testing.T) {
	var source strings.Builder
	source.WriteString("AGENT: A\nGOAL: \"g\"\nCONSTRAINTS:\n  always:\n")
	for range 20 {
		source.WriteString("    - WARN missing IS SET\n      ON_FAIL: \"{{REPEAT('x', 100000)}}\"\n")
	}
	set := compile(t, nil, source.String()+takes("a"))
	e := agenttest.New()
	o, err := e.Say(t.Context(), set, "x")
	if err != nil || len(o.Warnings) == 0 || len(o.Warnings[0]) > agent.MaxWarningBytes+3 || !strings.HasSuffix(o.Warnings[0], "x...") {
		t.Fatalf("Turn = %v, %v", o, err)
	}
	if _, err := set.Check(t.Context(), e, agent.Rules{Checkpoint: agent.CheckpointStep}); !errors.Is(err, abi.TooLarge) {
		t.Errorf("Check = %v; want too_large", err)
	}
}
