package agent

import (
	"context"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
)

// memory contains the variables, the facts and the states of agents that a turn reads and writes.
type memory struct {
	set     *Set
	env     Env
	log     *log
	session SessionState
	// actor is the active agent. actors contains all agents that have been active in the turn,
	// ordered by the time of their activation.
	*actor
	actors []*actor

	// input is the message of the user. result is the output of the last CALL. failure is the fault
	// of the last failed CALL. If the turn has no message, input is undefined. If the turn has no
	// CALL, result is undefined. If no CALL has failed, failure is undefined.
	input, result, failure any
	// arguments contains the input of a call while the constraints on the call are checked.
	arguments map[string]any
	// cache contains the facts that were read. The keys are the paths of the facts.
	cache map[string]cachedFact
	// cost is the remaining number of evaluation steps in this turn. interrupt returns an error if
	// the turn has been canceled.
	cost      int
	interrupt func() error
}

// actor describes an agent in a session.
type actor struct {
	agent *program
	state *State
	// kept contains the variables of the agent that are never reset.
	kept        map[string]any
	keptChanged bool
	// isNew is true if the agent was not active in the session before this turn.
	isNew bool
}

type cachedFact struct {
	value any
	ok    bool
}

func newMemory(ctx context.Context, set *Set, env Env, session SessionState, l *log) *memory {
	unset := abl.Undefined{}
	return &memory{set: set, env: env, log: l, session: session, input: unset, result: unset, failure: unset, cost: MaxCost, interrupt: ctx.Err}
}

// join makes an agent the active agent. If the turn has not yet loaded the state of the agent, join
// loads the state.
func (m *memory) join(ctx context.Context, name string) error {
	if i := slices.IndexFunc(m.actors, func(a *actor) bool { return a.agent.name == name }); i >= 0 {
		m.act(m.actors[i])
		return nil
	}
	a := &actor{agent: m.set.agents[name]}
	var err error
	if a.state, err = m.env.State(ctx, name); err != nil {
		return err
	}
	if a.state == nil {
		a.state = &State{}
	}
	if a.isNew = a.state.Variables == nil; a.isNew { // Set.Store can create a state without variables
		a.state.Variables = map[string]any{}
	}
	if a.agent.keeps {
		if a.kept, err = m.env.Kept(ctx, name); err != nil {
			return err
		}
		a.keep()
	}
	m.actors = append(m.actors, a)
	m.act(a)
	hideVariables(m)
	return nil
}

// hideVariables hides the values that the sensitive variables of the agent have at the start of the
// turn.
func hideVariables(m *memory) {
	for name := range m.agent.masks {
		m.log.hide(name, m.state.Variables[name])
		m.log.hide(name, m.kept[name])
		m.log.hide(name, m.session.Injected[name])
	}
}

// act makes an agent the active agent. The agent must already have been active in the turn.
func (m *memory) act(a *actor) {
	m.actor, m.log.agent = a, a.agent
}

// save stores the state of the session, and the states of all agents that were active in the turn.
func (m *memory) save(ctx context.Context) error {
	if err := m.bounded("the facts that recalls have loaded", m.session.Injected); err != nil {
		return err
	}
	for _, a := range m.actors {
		m.act(a)
		if err := m.bounded("the session variables", a.state.Variables); err != nil {
			return err
		}
		if err := m.bounded("the variables that are never reset", a.kept); err != nil {
			return err
		}
		if err := m.env.SetState(ctx, a.agent.name, a.state); err != nil {
			return err
		}
		if !a.keptChanged {
			continue
		}
		if err := m.env.SetKept(ctx, a.agent.name, a.kept); err != nil {
			return err
		}
	}
	return m.env.SetSession(ctx, m.session)
}

// bounded returns a fault if the total size of the values is too large.
func (m *memory) bounded(what string, values map[string]any) error {
	size, _ := sizeOf(values, MaxStateBytes, -1)
	if size <= MaxStateBytes {
		return nil
	}
	return m.log.faultf(m.agent.Agent.Position, abi.TooLarge, "%s of the agent %s are larger than %d bytes", what, m.agent.name, MaxStateBytes)
}
