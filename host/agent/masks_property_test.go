package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

// TestRandomOutcomesHideSecrets performs turns of random agents with sensitive variables and facts.
// The trace, the warnings and the fault of a turn must not contain a sensitive value. The error of
// a tool can repeat its input, so it is also checked.
func TestRandomOutcomesHideSecrets(t *testing.T) {
	hidden, checked := 0, 0
	for seed := uint64(1); checked < 1500; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 2))}
		set, source := g.secretAgents()
		if set == nil {
			continue
		}
		e := agenttest.New()
		for _, name := range genTools {
			e.Tools[name] = func(_ context.Context, _ *agenttest.Env, input map[string]any) (any, error) {
				if g.chance(40) {
					return nil, fmt.Errorf("refused %v", input)
				}
				return map[string]any{"n": 1.0, "x": input["x"]}, nil
			}
		}
		var secrets []string
		for i := range 12 {
			message := fmt.Sprintf("secret-%d-%d", seed, i)
			before := secretsOf(t, e)
			outcome, err := e.Turn(context.Background(), set, agent.Request{Agent: "A", Message: message, HasMessage: true})
			secrets = append(before, secretsOf(t, e)...)
			visible := fmt.Sprint(err)
			if outcome != nil { // a failed turn also has a trace
				content, _ := json.Marshal([]any{outcome.Trace, outcome.Warnings})
				visible += string(content)
			}
			checked++
			hidden += strings.Count(visible, "[REDACTED]")
			for _, secret := range secrets {
				if strings.Contains(visible, secret) {
					t.Fatalf("seed %d\n%s\nthe outcome of %q contains %s: %s", seed, source, message, secret, visible)
				}
			}
		}
	}
	if hidden < 1000 {
		t.Errorf("only %d values were hidden; want at least 1000", hidden)
	}
}

// sensitiveNames contains the names that the agents declare as sensitive.
var sensitiveNames = []string{"v0", "v2", "user.f0", "user.dom.a"}

func (g *generator) secretAgents() (*agent.Set, string) {
	var docs []*abl.Document
	all := ""
	for _, name := range []string{"A", "B"} {
		g.steps = nil
		a := g.agent(name)
		a.sensitive = sensitiveNames
		a.start = append(a.start, refAction{kind: "set", sets: []refSet{{"v2", &refExpr{op: "ref", ref: "input"}}, {"user.f0", &refExpr{op: "ref", ref: "input"}}}})
		if a.start[0].kind == "set" {
			a.start = a.start[len(a.start)-1:]
		}
		source := a.source()
		all += source
		d, problems := abl.Parse(name+".abl", []byte(source))
		if problems.Err() != nil {
			return nil, all
		}
		docs = append(docs, d)
	}
	set, problems := agent.Compile(docs, []agent.Tool{{Name: "t0"}, {Name: "t1"}})
	if problems.Err() != nil {
		return nil, all
	}
	return set, all
}

// secretsOf returns the texts that sensitive variables and facts contain.
func secretsOf(t *testing.T, e *agenttest.Env) []string {
	var found []string
	add := func(value any) {
		if text, ok := value.(string); ok && len(text) >= 8 {
			found = append(found, text)
		}
	}
	for _, name := range []string{"A", "B"} {
		state, err := e.State(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := e.Kept(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, variable := range sensitiveNames {
			add(kept[variable])
			if state != nil {
				add(state.Variables[variable])
			}
			value, _ := e.Stored(variable)
			add(value)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
