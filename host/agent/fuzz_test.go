package agent_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/model"
)

// FuzzTurn performs turns of agent files that have no errors. A turn must never panic, and its
// error must never be an internal fault. A failed turn must change nothing.
func FuzzTurn(f *testing.F) {
	for _, source := range []string{tripFlow, searchFlow, wireAgent, tenSteps(), "AGENT: A\n"} {
		f.Add(source, "yes", "2")
	}
	f.Fuzz(func(t *testing.T, source, first, second string) {
		d, problems := abl.Parse("a.abl", []byte(source))
		if problems.Err() != nil {
			return
		}
		var tools []agent.Tool
		e := agenttest.New()
		random := rand.New(rand.NewPCG(1, uint64(len(source))))
		for _, name := range d.ToolNames() {
			tools = append(tools, agent.Tool{Name: name})
			e.Tools[name] = func(_ context.Context, e *agenttest.Env, input map[string]any) (any, error) {
				e.SetStored("user.tool", input, 0, "")
				if random.IntN(2) == 0 {
					return nil, errors.New("failed")
				}
				return input, nil
			}
		}
		e.Model = func(string, model.ChatRequest) (model.ChatAnswer, error) { return model.ChatAnswer{Text: "ok"}, nil }
		set, problems := agent.Compile([]*abl.Document{d}, tools)
		if problems.Err() != nil {
			return
		}
		for _, message := range []string{first, second, first, ""} {
			before := e.Dump()
			_, err := e.Turn(context.Background(), set, agent.Request{Message: message, HasMessage: message != ""})
			if err == nil {
				continue
			}
			if fault := abi.FaultOf(err); fault.Code == abi.Internal {
				t.Fatalf("%v\n%s", err, source)
			}
			if !maps.Equal(before, e.Dump()) {
				t.Fatalf("a failed turn changed stored values: %v\n%s", err, source)
			}
		}
	})
}
