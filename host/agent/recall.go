package agent

import (
	"context"
	"maps"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// fire carries out the recalls of the agent that acts for an event, such as tool:search:after.
func (r *rules) fire(ctx context.Context, event string) error {
	for i := range r.mem.agent.Memory.Recalls {
		recall := &r.mem.agent.Memory.Recalls[i]
		if eventName(recall.Event) != event {
			continue
		}
		r.log.note(Trace{Kind: "recall", Name: event, Position: r.log.place(recall.Position)})
		if recall.Action == abl.ActionPrompt {
			r.log.outcome.Instructions = append(r.log.outcome.Instructions, recall.Instruction)
			continue
		}
		if err := r.inject(ctx, recall); err != nil {
			return err
		}
	}
	return nil
}

// eventName returns the name of an event as in a file.
func eventName(e abl.Event) string {
	switch {
	case e.Name == "":
		return e.Kind + ":" + e.Moment
	case e.Kind == "step":
		return e.Kind + ":" + e.Moment + ":" + e.Name
	default:
		return e.Kind + ":" + e.Name + ":" + e.Moment
	}
}

// inject loads facts into the session.
func (r *rules) inject(ctx context.Context, recall *abl.Recall) error {
	paths := make([]string, len(recall.Paths))
	for i, path := range recall.Paths {
		paths[i] = path.Value
	}
	facts, err := r.mem.env.Context(ctx, r.mem.agent.name, paths, recall.Domain)
	if err != nil {
		return err
	}
	injected := maps.Clone(r.mem.session.Injected)
	if injected == nil {
		injected = map[string]any{}
	}
	add := func(path string, value any) {
		injected[path] = value
		r.log.outcome.Injected[path] = r.mem.agent.shown(path, value)
	}
	for _, path := range paths {
		if f := r.mem.agent.facts[path]; f != nil {
			add(path, f.Default)
		} else {
			add(path, nil)
		}
	}
	for _, f := range facts {
		add(f.Path, f.Value)
	}
	r.mem.session.Injected = injected
	return nil
}
