package agent

import (
	"context"
	"reflect"
	"slices"

	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/report"
)

// MaxRetries is a limit for one turn: a constraint with RETRY can run a step again at most
// MaxRetries times.
const MaxRetries = 3

// rules evaluates the constraints, recalls and triggers of the active agent.
type rules struct {
	mem *memory
	log *log
	// excused identifies a constraint that is skipped at its next checkpoint. Its value is the
	// index of this constraint, or -1 if no constraint is skipped.
	excused int
	// collect makes the step wait for the fields of a failed constraint. The argument "prompted" is
	// true if the constraint has sent a message.
	collect func(ctx context.Context, constraint int, prompted bool) (control, error)
	// withdraw removes the results that the active agent added to the messages.
	withdraw func()
	// retries contains, for each constraint, how often the constraint ran a step again.
	retries map[*abl.Constraint]int
	// stored contains the display forms of the facts that triggers stored.
	stored map[string]any
}

// checkpoint checks the constraints that apply at a checkpoint. For CheckpointCalling, the argument
// "tool" is the called tool. The turn continues unless a constraint of severity "error" fails.
func (r *rules) checkpoint(ctx context.Context, kind, tool string) (control, error) {
	i, err := r.check(ctx, kind, tool, nil)
	if e := r.excused; e >= 0 && e < len(r.mem.agent.Constraints) && applies(&r.mem.agent.Constraints[e], kind, tool) {
		r.excused = -1
	}
	if err != nil || i < 0 {
		return control{}, err
	}
	r.log.outcome.Blocked = true
	return r.failed(ctx, i, kind)
}

// calling checks the constraints on a call to a tool. If the input of the call differs from the
// variables, calling checks the constraints again. In the second check, the values of the input
// replace the variables of the same names. A model can choose the input, so a single check with the
// input could miss variables that violate a constraint.
func (r *rules) calling(ctx context.Context, tool string, input map[string]any) (control, error) {
	excused := r.excused
	ctl, err := r.checkpoint(ctx, CheckpointCalling, tool)
	if err != nil || ctl.kind != goOn || !r.differs(ctx, tool, input) {
		return ctl, err
	}
	r.mem.arguments, r.excused = input, excused
	defer func() { r.mem.arguments = nil }()
	return r.checkpoint(ctx, CheckpointCalling, tool)
}

// differs reports whether the input of a call changes the value of a name that a constraint on
// calls to the tool reads.
func (r *rules) differs(ctx context.Context, tool string, input map[string]any) bool {
	if len(input) == 0 {
		return false
	}
	scope, same := r.mem.scope(ctx), map[string]bool{}
	isInput := func(ref abl.Reference) bool {
		name := ref.Path[0]
		passed, ok := input[name]
		if !ok || same[name] {
			return false
		}
		value, names, err := scope.Lookup(ref.Path[:1])
		same[name] = err == nil && names > 0 && reflect.DeepEqual(value, passed)
		return !same[name]
	}
	for i := range r.mem.agent.Constraints {
		c := &r.mem.agent.Constraints[i]
		if !applies(c, CheckpointCalling, tool) {
			continue
		}
		if slices.ContainsFunc(c.Condition.References(), isInput) || c.When != nil && slices.ContainsFunc(c.When.References(), isInput) {
			return true
		}
	}
	return false
}

// check returns the index of the first constraint that has severity "error" and fails at a
// checkpoint, or -1 if no such constraint exists. A failed constraint of severity "warning" adds a
// warning. If the argument "report" is not nil, check calls the function "report" for each failed
// constraint.
func (r *rules) check(ctx context.Context, kind, tool string, report func(*abl.Constraint, string)) (int, error) {
	scope := r.mem.scope(ctx)
	for i := range r.mem.agent.Constraints {
		c := &r.mem.agent.Constraints[i]
		if !applies(c, kind, tool) || i == r.excused {
			continue
		}
		if err := r.mem.charge(c.Position, costOfConstraint); err != nil {
			return -1, err
		}
		fails, warnings, err := c.Fails(scope, r.mem.options())
		r.log.warnings(warnings)
		if err != nil {
			return -1, r.mem.located(err, c.Position)
		}
		if !fails {
			r.log.note(r.traced(c, "passed"))
			continue
		}
		r.log.note(r.traced(c, "failed"))
		message := ""
		if c.OnFail.Respond != nil && (report != nil || c.Severity == problem.Warning) {
			if message, err = r.mem.render(ctx, c.OnFail.Respond); err != nil {
				return -1, err
			}
		}
		if report != nil {
			if err := r.log.size(c.Position, message); err != nil {
				return -1, err
			}
			report(c, message)
		}
		if c.Severity != problem.Warning {
			return i, nil
		}
		if message == "" {
			message = string(c.Rule) + " " + c.Condition.String() + " failed"
		}
		r.log.warnf(c.Position, "%s", message)
	}
	return -1, nil
}

func (r *rules) traced(c *abl.Constraint, result string) report.Trace {
	return report.Trace{Kind: "constraint", Name: string(c.Rule), Position: r.log.place(c.Position), Result: result}
}

// applies reports whether a checkpoint checks a constraint.
func applies(c *abl.Constraint, kind, tool string) bool {
	if c.Inert() {
		return false
	}
	switch kind {
	case CheckpointStep:
		return c.Before == ""
	case CheckpointCalling:
		return c.Before == CheckpointCalling && c.Tool.Value == tool
	default:
		return c.Before == kind
	}
}

// failed executes the ON_FAIL of a constraint.
func (r *rules) failed(ctx context.Context, i int, kind string) (control, error) {
	c := &r.mem.agent.Constraints[i]
	if kind == CheckpointReturning {
		r.withdraw()
	}
	if c.OnFail.Respond != nil {
		if err := ask(ctx, r.mem, c.OnFail.Respond); err != nil {
			return control{}, err
		}
	}
	switch f := c.OnFail; {
	case f.Handoff.Value != "":
		return control{kind: handoff, target: f.Handoff}, nil
	case f.Escalate:
		return control{kind: escalate}, nil
	case len(f.Collect) > 0:
		return r.collect(ctx, i, f.Respond != nil)
	case f.Goto.Value != "":
		return control{kind: jump, target: f.Goto, excused: i + 1}, nil
	case f.Retry && r.retries[c] < MaxRetries:
		if r.retries == nil {
			r.retries = map[*abl.Constraint]int{}
		}
		r.retries[c]++
		return control{kind: again}, nil
	}
	return control{kind: halt}, nil
}
