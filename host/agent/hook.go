package agent

import (
	"context"
	"errors"
	"maps"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// hook runs all hooks that have a given name. If a hook fails, or if a constraint stops the hook,
// the changes that the hook made are undone. If the hook is critical, the turn also ends.
func (t *turn) hook(ctx context.Context, name string) error {
	for i := range t.mem.agent.Hooks {
		h := &t.mem.agent.Hooks[i]
		if h.Value != name {
			continue
		}
		if err := t.runHook(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) runHook(ctx context.Context, h *abl.Hook) error {
	before, blocked := t.mem.snapshot(), t.log.outcome.Blocked
	err := t.mem.env.Nested(ctx, func(ctx context.Context) error {
		t.log.outcome.Blocked = false
		_, err := t.acts.root(ctx, []int{rootOther}, &h.Body, nil)
		if err == nil && t.log.outcome.Blocked {
			err = t.log.faultf(h.Position, abi.AccessDenied, "a constraint stopped the hook")
		}
		return err
	})
	t.log.outcome.Blocked = blocked
	entry := report.Trace{Kind: "hook", Name: h.Value, Position: t.log.place(h.Position), Result: passed(err == nil)}
	var fault *abi.Fault
	if err != nil && (h.Critical || !errors.As(err, &fault)) {
		return err
	}
	if err != nil {
		t.mem.restore(before)
		t.log.warnf(h.Position, "the hook %s failed: %s", h.Value, t.log.reasonOf(fault, h.Position))
	}
	t.log.note(entry)
	return nil
}

// snapshot is a copy of a turn's data. snapshot contains all data that a hook can change.
type snapshot struct {
	variables, kept, injected map[string]any
	result, failure           any
	messages, instructions    int
	shown                     map[string]any // Outcome.Injected
}

func (m *memory) snapshot() snapshot {
	o := m.log.outcome
	return snapshot{
		variables: maps.Clone(m.state.Variables), kept: maps.Clone(m.kept), injected: maps.Clone(m.session.Injected),
		result: m.result, failure: m.failure, messages: len(o.Messages), instructions: len(o.Instructions), shown: maps.Clone(o.Injected),
	}
}

func (m *memory) restore(s snapshot) {
	m.state.Variables, m.kept, m.session.Injected, m.result, m.failure = s.variables, s.kept, s.injected, s.result, s.failure
	o := m.log.outcome
	o.Messages, o.Instructions, o.Injected = o.Messages[:s.messages], o.Instructions[:s.instructions], s.shown
	forget(m)
}
