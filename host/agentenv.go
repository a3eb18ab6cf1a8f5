package host

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/variables"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// agentEnv is the environment of an agent in one attempt of a turn.
type agentEnv struct {
	turn   *turn
	view   *memory.View
	random *rand.Rand
	// versions contains, for each block that the agents of this attempt have read or written, the
	// latest version that they know.
	versions map[blockID]time.Time
	// named is true if the name of the agent that performs the turn is known.
	named bool
}

var _ agent.Env = (*agentEnv)(nil)

func newAgentEnv(t *turn, v *memory.View, seed uint64) *agentEnv {
	return &agentEnv{turn: t, view: v, random: rand.New(rand.NewPCG(seed, seed))}
}

// Now implements agent.Env.
func (e *agentEnv) Now() time.Time { return e.view.Now() }

// Random implements agent.Env.
func (e *agentEnv) Random() *rand.Rand { return e.random }

// Session implements agent.Env.
func (e *agentEnv) Session(ctx context.Context) (s agent.SessionState, err error) {
	_, err = e.read(ctx, variables.Session, &s)
	return s, err
}

// SetSession implements agent.Env.
func (e *agentEnv) SetSession(ctx context.Context, s agent.SessionState) error {
	return e.write(ctx, variables.Session, s)
}

// State implements agent.Env.
func (e *agentEnv) State(ctx context.Context, name string) (*agent.State, error) {
	if !e.named {
		e.named = true
		e.turn.addressed(name)
	}
	s := &agent.State{}
	if found, err := e.read(ctx, name, s); err != nil || !found {
		return nil, err
	}
	return s, nil
}

// SetState implements agent.Env.
func (e *agentEnv) SetState(ctx context.Context, name string, s *agent.State) error {
	return e.write(ctx, name, s)
}

// Kept implements agent.Env.
func (e *agentEnv) Kept(ctx context.Context, name string) (kept map[string]any, err error) {
	_, err = e.read(ctx, variables.Kept(name, e.hasUser()), &kept)
	return kept, err
}

// SetKept implements agent.Env.
func (e *agentEnv) SetKept(ctx context.Context, name string, kept map[string]any) error {
	return e.write(ctx, variables.Kept(name, e.hasUser()), kept)
}

func (e *agentEnv) hasUser() bool { return e.view.Caller().User != "" }

// read reads the agent state that is stored under the name in the argument "item". Without a
// session, only the variables of the user exist.
func (e *agentEnv) read(ctx context.Context, item string, to any) (found bool, err error) {
	text, err := e.view.AgentState(ctx, item)
	if errors.Is(err, abi.NoSession) {
		return false, nil
	}
	if err != nil || text == nil {
		return false, err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return false, abi.Faultf(abi.Internal, "cannot read the state of the agent: %v", err)
	}
	return true, nil
}

// write stores a state under the name in the argument "item". If no session exists, write does
// nothing.
func (e *agentEnv) write(ctx context.Context, item string, state any) error {
	text, err := json.Marshal(state)
	if err != nil {
		return abi.Faultf(abi.Internal, "cannot store the state of the agent: %v", err)
	}
	if err := e.view.SetAgentState(ctx, item, text); !errors.Is(err, abi.NoSession) {
		return err
	}
	return nil
}

// Fact implements agent.Env. If the caller has no user, the facts of users have no values. If the
// caller has no session, the facts of sessions have no values. If the caller has no workflow, the
// facts of workflows have no values.
func (e *agentEnv) Fact(ctx context.Context, name, path string) (value any, ok bool, err error) {
	e.turn.calls++
	text, err := e.view.Fact(ctx, e.turn.h.agents[name].authority, path)
	if hasNoOwner(err) {
		return nil, false, nil
	}
	if err != nil || text == nil {
		return nil, false, err
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, false, abi.Faultf(abi.Internal, "cannot read the fact %s: %v", path, err)
	}
	return value, true, nil
}

// hasNoOwner reports whether an operation on a fact failed because the caller lacks the user,
// session or workflow that would own the fact.
func hasNoOwner(err error) bool {
	return errors.Is(err, abi.NoUser) || errors.Is(err, abi.NoSession) || errors.Is(err, abi.NoWorkflow)
}

// SetFact implements agent.Env. If the value is null, the fact is removed.
func (e *agentEnv) SetFact(ctx context.Context, name, path string, value any, o agent.FactOptions) error {
	if value == nil {
		return e.DeleteFact(ctx, name, path)
	}
	text, err := strictjson.Encode(value)
	if err != nil {
		return abi.Faultf(abi.InvalidArgument, "the value of the fact %s is not a JSON value: %v", path, err)
	}
	args := []json.RawMessage{quoted(path), text}
	if o.TTL > 0 {
		args = append(args, json.RawMessage(`{"ttl":"`+declare.Retention{For: o.TTL}.String()+`"}`))
	}
	return e.call(ctx, name, abi.Call{Op: abi.SetFact, Args: args})
}

// DeleteFact implements agent.Env.
func (e *agentEnv) DeleteFact(ctx context.Context, name, path string) error {
	return e.call(ctx, name, abi.Call{Op: abi.DeleteFact, Args: []json.RawMessage{quoted(path)}})
}

// call performs a memory operation with the rights of an agent.
func (e *agentEnv) call(ctx context.Context, name string, call abi.Call) error {
	e.turn.calls++
	_, err := e.view.CallWith(ctx, e.turn.h.agents[name].authority, call)
	return err
}

// quoted returns the path of a fact as a JSON string.
func quoted(path string) json.RawMessage {
	text, _ := json.Marshal(path) // a string always encodes
	return text
}

// Context implements agent.Env.
func (e *agentEnv) Context(ctx context.Context, name string, paths []string, domain string) ([]agent.Fact, error) {
	a := e.turn.h.agents[name]
	if domain != "" {
		paths = slices.Concat(paths, a.domains[domain])
	}
	values, err := e.view.PeekFacts(ctx, a.context, paths)
	if err != nil {
		return nil, err
	}
	var facts []agent.Fact
	for i, text := range values {
		if text == nil || slices.Contains(paths[:i], paths[i]) {
			continue
		}
		f := agent.Fact{Path: paths[i], Domain: domain}
		if err := json.Unmarshal(text, &f.Value); err != nil {
			return nil, abi.Faultf(abi.Internal, "cannot read the fact %s: %v", paths[i], err)
		}
		facts = append(facts, f)
	}
	return facts, nil
}

// Hide implements agent.Env.
func (e *agentEnv) Hide(clean func(text string) string) { e.turn.last.clean = clean }

// OnSearch implements agent.Env.
func (e *agentEnv) OnSearch(fire func(ctx context.Context) error) { e.turn.last.onSearch = fire }

// Nested implements agent.Env.
func (e *agentEnv) Nested(ctx context.Context, body func(context.Context) error) error {
	return e.view.Nested(ctx, memory.Authority{}, body)
}

// CallTool implements agent.Env.
func (e *agentEnv) CallTool(ctx context.Context, name, tool string, input map[string]any) (any, error) {
	text, err := strictjson.Encode(input)
	if err != nil {
		return nil, abi.Faultf(abi.InvalidArgument, "the input of the tool %s is not a JSON value: %v", tool, err)
	}
	text = slices.Clone(text)
	if output, known, err := e.callMemory(ctx, name, tool, text); known {
		return output, err
	}
	output, err := e.turn.callTool(ctx, e.view, name, tool, text)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(output, &value); err != nil {
		return nil, abi.Faultf(abi.OutputInvalid, "the output of the tool %s is not valid JSON", tool)
	}
	return value, nil
}

// Chat implements agent.Env. The turn is parked until the answer of the model has arrived.
func (e *agentEnv) Chat(ctx context.Context, _, name string, request model.ChatRequest) (model.ChatAnswer, error) {
	e.turn.calls++
	x, err := externalsOf(ctx, &e.turn.job, e.view)
	if err != nil {
		return model.ChatAnswer{}, err
	}
	return x.chat(ctx, name, request)
}
