package agent

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// Limits of recalls.
const (
	// MaxInjected is the maximum number of injected facts in a session. Recalls load these facts.
	// MaxInjectedBytes is the approximate maximum total size of the injected facts in a session.
	MaxInjected      = 1000
	MaxInjectedBytes = 1 << 20
	// MaxInstructions is the maximum number of instructions that recalls can add to a turn.
	MaxInstructions = 100
)

// fire performs the recalls that the acting agent declares for an event, such as
// "tool:search:after".
func (r *rules) fire(ctx context.Context, event string) error {
	recalls := r.mem.agent.Memory.Recalls
	if len(recalls) == 0 {
		return nil
	}
	fired, err := abl.ParseEvent(event)
	if err != nil {
		return err
	}
	for i := range recalls {
		if !recalls[i].Event.Matches(fired) {
			continue
		}
		if err := r.recall(ctx, &recalls[i], event); err != nil {
			return err
		}
	}
	return nil
}

// recall performs the action of a recall.
func (r *rules) recall(ctx context.Context, c *abl.Recall, event string) error {
	if c.Action == abl.ActionPrompt {
		r.log.note(report.Trace{Kind: "recall", Name: event, Position: r.log.place(c.Position), Result: "instruction"})
		if len(r.log.outcome.Instructions) < MaxInstructions {
			r.log.outcome.Instructions = append(r.log.outcome.Instructions, c.Instruction)
		}
		return nil
	}
	paths := r.readable(c)
	facts, err := r.context(ctx, c, paths)
	if err != nil {
		return err
	}
	i := newInjection(r, c)
	if err := i.charge(facts); err != nil {
		return err
	}
	for _, f := range facts {
		i.stored[f.Path] = true
		if declared := r.mem.agent.facts[f.Path]; declared != nil && declared.Access == abl.AccessWrite {
			r.denied("recall", f.Path, c.Position, "cannot be read")
			continue
		}
		i.add(f.Path, f.Value, "loaded")
	}
	i.defaults(paths)
	r.mem.session.Injected = i.injected
	return nil
}

// readable returns those paths of a recall that the agent is allowed to read. For the other paths,
// readable injects null.
func (r *rules) readable(c *abl.Recall) []string {
	paths := make([]string, 0, len(c.Paths))
	for _, path := range c.Paths {
		if f := r.mem.agent.facts[path.Value]; f != nil && f.Access == abl.AccessWrite {
			r.denied("recall", path.Value, path.Position, "cannot be read")
			r.log.outcome.Injected[path.Value] = nil
			continue
		}
		if !slices.Contains(paths, path.Value) {
			paths = append(paths, path.Value)
		}
	}
	return paths
}

// context reads the facts of a recall. If a scope does not exist, all facts of the scope are
// treated as not set. For example, a session without a user has no user scope.
func (r *rules) context(ctx context.Context, c *abl.Recall, paths []string) ([]Fact, error) {
	facts, err := r.mem.env.Context(ctx, r.mem.agent.name, paths, c.Domain)
	if !isUnscoped(err) {
		return facts, err
	}
	for _, path := range paths {
		found, err := r.mem.env.Context(ctx, r.mem.agent.name, []string{path}, "")
		if isUnscoped(err) {
			r.denied("recall", path, c.Position, reason(err))
			continue
		}
		if err != nil {
			return nil, err
		}
		facts = append(facts, found...)
	}
	if c.Domain == "" {
		return facts, nil
	}
	found, err := r.mem.env.Context(ctx, r.mem.agent.name, nil, c.Domain)
	if isUnscoped(err) {
		r.denied("recall", c.Domain, c.Position, reason(err))
		return facts, nil
	}
	return append(facts, found...), err
}

// injection adds facts to the injected values of a session.
type injection struct {
	rules    *rules
	recall   *abl.Recall
	injected map[string]any
	size     int
	stored   map[string]bool
}

func newInjection(r *rules, c *abl.Recall) *injection {
	i := &injection{rules: r, recall: c, injected: maps.Clone(r.mem.session.Injected), stored: map[string]bool{}}
	if i.injected == nil {
		i.injected = map[string]any{}
	}
	i.size, _ = sizeOf(i.injected, MaxInjectedBytes, 0)
	return i
}

// charge subtracts the cost of a recall from the budget of the turn.
func (i *injection) charge(facts []Fact) error {
	size := i.size
	for _, f := range facts {
		n, _ := sizeOf(f.Value, MaxInjectedBytes, 0)
		size += 4 * n // the environment decodes it
	}
	return i.rules.mem.charge(i.recall.Position, costOfRecall+len(i.injected)+size/bytesPerStep)
}

// add injects a value. If a value exceeds the limits, add adds a warning instead of the value.
func (i *injection) add(path string, value any, result string) {
	mem, log := i.rules.mem, i.rules.log
	_, known := i.injected[path]
	size, deep := sizeOf(value, MaxInjectedBytes, 0)
	if deep || i.size+size > MaxInjectedBytes || !known && len(i.injected) >= MaxInjected {
		log.warnf(i.recall.Position, "the fact %s is not loaded: a session loads at most %d facts and %d bytes", path, MaxInjected, MaxInjectedBytes)
		return
	}
	i.size += size
	i.injected[path] = value
	log.hide(path, value)
	log.outcome.Injected[path] = mem.agent.shown(path, value)
	log.note(report.Trace{Kind: "recall", Name: path, Position: log.place(i.recall.Position), Value: mem.shownJSON(path, value), Result: result})
}

// defaults injects the defaults of those facts of a recall that are not stored. If a path has no
// default, defaults injects null for the path. For a domain, defaults injects the default of each
// declared, readable fact of the domain that has a default and is not stored.
func (i *injection) defaults(paths []string) {
	agent := i.rules.mem.agent
	for _, path := range paths {
		if i.stored[path] {
			continue
		}
		var value any
		if f := agent.facts[path]; f != nil {
			value = f.Default
		}
		i.stored[path] = true
		i.add(path, value, "default")
	}
	if i.recall.Domain == "" {
		return
	}
	for n := range agent.Memory.Persistent {
		f := &agent.Memory.Persistent[n]
		if f.Domain == i.recall.Domain && f.Default != nil && f.Access != abl.AccessWrite && !i.stored[f.Value] {
			i.add(f.Value, f.Default, "default")
		}
	}
}

// denied records that the agent could not read or write a fact.
func (r *rules) denied(kind, path string, at abl.Position, why string) {
	r.log.note(report.Trace{Kind: kind, Name: path, Position: r.log.place(at), Result: "denied"})
	r.log.warnf(at, "%s %s", path, why)
}

// isUnscoped reports whether an error is the fault that reports a missing scope. For example, if
// the caller has no user, the user scope is missing.
func isUnscoped(err error) bool {
	var f *abi.Fault
	return errors.As(err, &f) && (f.Code == abi.NoUser || f.Code == abi.NoSession || f.Code == abi.NoWorkflow)
}

// reason returns the clause that explains a missing scope at the end of a warning. The argument
// must be an error for which isUnscoped is true.
func reason(err error) string {
	switch {
	case errors.Is(err, abi.NoUser):
		return "belongs to a user, but the run has no user"
	default:
		return "belongs to a workflow, but the run has no workflow and no session"
	}
}
