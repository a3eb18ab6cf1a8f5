package host

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/variables"
	"github.com/toolrun/toolrun/host/report"
)

// sessionEndEvent is the event that is fired before a call ends a session.
const sessionEndEvent = "session:end"

// maxSessionEnd is the time limit for the recalls and triggers of the agent at the end of a
// session.
const maxSessionEnd = 30 * time.Second

// fireSessionEnd fires session:end for the agent that answers in the caller's session, and
// evaluates the triggers of this agent. If no agent answers in the session, fireSessionEnd does
// nothing. If the agent fails, the session nevertheless ends, because a faulty agent must not keep
// a session open.
func (s Sessions) fireSessionEnd(ctx context.Context, caller Caller) {
	if s.h.app.AgentSet == nil || caller.Session == "" {
		return
	}
	found, err := s.Get(ctx, caller)
	if err != nil || found.Ended != nil || caller.User != "" && caller.User != found.User {
		return
	}
	caller.User = found.User
	if answers, err := s.hasAgent(ctx, caller, false); err != nil || !answers {
		return // no agent answers, or the session cannot be read
	}
	s.fireEnd(ctx, caller, false)
}

// BeforeIdleEnd fires session:end for the agent that answers in an idle session, and evaluates the
// triggers of this agent. The event is fired in the transaction that ends the session. Therefore
// the event is fired exactly once, even if the process is killed. Before a sweeper ends an idle
// session, it calls BeforeIdleEnd; see session.BeforeEnd. If the Host is closing, BeforeIdleEnd
// returns false, and a later sweep fires the event.
func (s Sessions) BeforeIdleEnd(ctx context.Context, caller Caller) (proceed bool) {
	if s.h.app.AgentSet == nil || caller.Session == "" {
		return true
	}
	found, err := s.Get(ctx, caller)
	if err != nil {
		return ctx.Err() == nil
	}
	caller.User = found.User
	if answers, err := s.hasAgent(ctx, caller, true); err == nil && answers {
		s.fireEnd(ctx, caller, true)
	}
	return ctx.Err() == nil && !s.h.closed.Load()
}

// fireEnd performs the turn at the end of a session. If idle is true, the turn ends the idle session.
func (s Sessions) fireEnd(ctx context.Context, caller Caller, idle bool) {
	t := newTurn(s.h, actTurn, Turn{Caller: caller, Event: sessionEndEvent, Timeout: maxSessionEnd})
	t.endIdle = idle
	t.perform = func(ctx context.Context, t *turn, env *agentEnv) (err error) {
		t.last.outcome, err = t.set.Turn(ctx, env, agent.Request{Event: sessionEndEvent})
		return err
	}
	err := t.run(ctx, func(done memory.Done, err error) *report.Result {
		result := turnResult(t, done, err)
		return runResult(t, t.info.ID, result.Error, result.Effects, false)
	})
	if err != nil {
		s.h.log.Warn("an agent failed at the end of a session", "turn", t.info.ID, "agent", t.info.Agent, "error", err)
	}
}

// hasAgent reports whether an agent answers in the caller's session. The argument "idle" must be
// true if the session is idle.
func (s Sessions) hasAgent(ctx context.Context, caller Caller, idle bool) (answers bool, err error) {
	_, err = s.h.memory.Transact(ctx, &memory.Tx{Caller: caller.as(""), DryRun: true, EndIdle: idle}, func(ctx context.Context, v *memory.View) error {
		state, err := v.AgentState(ctx, variables.Session)
		answers = state != nil
		return err
	})
	return answers, err
}
