package agent_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

const guide = `AGENT: Guide
GOAL: "Plan a trip"
MEMORY:
  session:
    - nights
      TYPE: number
  persistent:
    - user.city
      DEFAULT: "Bern"
  remember:
    - WHEN: city IS SET
      STORE: city -> user.city
      TTL: "90d"
CONSTRAINTS:
  always:
    - REQUIRE nights <= 30 BEFORE calling book
      ON_FAIL: "At most 30 nights, not {{nights}}."
FLOW:
  plan:
    REASONING: false
    GATHER:
      - city: required
      - nights: required
    RESPOND: "{{nights}} nights in {{city}}."
    THEN: COMPLETE
`

// compileGuide reads and compiles the agent.
func compileGuide() *agent.Set {
	d, problems := abl.Parse("guide.abl", []byte(guide))
	if err := problems.Err(); err != nil {
		panic(err)
	}
	set, problems := agent.Compile([]*abl.Document{d}, []agent.Tool{{Name: "book"}})
	if err := problems.Err(); err != nil {
		panic(err)
	}
	return set
}

// A conversation consists of turns. The environment keeps the state from one turn to the next.
func ExampleSet_Turn() {
	set, env := compileGuide(), agenttest.New()
	for _, message := range []string{"hello", "Rome", "3"} {
		outcome, err := env.Say(context.Background(), set, message)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(outcome.Messages)
	}
	city, _ := env.Stored("user.city")
	fmt.Println("stored:", city)
	// Output:
	// [Please enter the city.]
	// [Please enter the nights.]
	// [3 nights in Rome.]
	// stored: Rome
}

// A program with its own loop checks constraints before it calls a tool.
func ExampleSet_Check() {
	set, env := compileGuide(), agenttest.New()
	result, err := set.Check(context.Background(), env, agent.Rules{
		Checkpoint: agent.CheckpointCalling, Tool: "book", Variables: map[string]any{"nights": 40},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Blocked, result.Failures[0].Message)
	// Output: true At most 30 nights, not 40.
}
