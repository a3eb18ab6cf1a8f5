package agent

import (
	"context"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// rules evaluates the constraints, recalls and triggers of the agent that acts.
type rules struct {
	mem *memory
	log *log
	// excused is the index of a constraint that does not apply to the next checkpoint before a step,
	// or -1.
	excused int
	// collect makes the step wait for the fields of a failed constraint. prompted is true if the
	// constraint has sent a message.
	collect func(ctx context.Context, constraint int, prompted bool) (control, error)
}

// checkpoint checks the constraints that apply at a checkpoint. tool is the tool of CheckpointCalling.
// The control goes on unless a constraint of severity error fails.
func (r *rules) checkpoint(ctx context.Context, kind, tool string) (control, error) {
	excused := r.excused
	r.excused = -1
	for i := range r.mem.agent.Constraints {
		c := &r.mem.agent.Constraints[i]
		if !applies(c, kind, tool) || i == excused {
			continue
		}
		fails, warnings, err := c.Fails(r.mem.scope(ctx), r.mem.options())
		r.log.warnings(warnings)
		if err != nil {
			return control{}, r.mem.located(err, c.Position)
		}
		if !fails {
			continue
		}
		if ctl, err := r.failed(ctx, i, c); err != nil || ctl.kind != goOn {
			return ctl, err
		}
	}
	return control{}, nil
}

// applies reports whether a constraint is checked at a checkpoint.
func applies(c *abl.Constraint, kind, tool string) bool {
	switch kind {
	case CheckpointStep:
		return c.Before == ""
	case CheckpointCalling:
		return c.Before == CheckpointCalling && c.Tool.Value == tool
	default:
		return c.Before == kind
	}
}

// failed carries out the ON_FAIL of a constraint.
func (r *rules) failed(ctx context.Context, i int, c *abl.Constraint) (control, error) {
	r.log.note(Trace{Kind: "constraint", Name: string(c.Rule), Position: r.log.place(c.Position), Result: "failed"})
	if c.Severity == abl.SeverityWarning {
		message, err := r.mem.render(ctx, c.OnFail.Respond)
		r.log.warnf(c.Position, "%s", message)
		return control{}, err
	}
	r.log.outcome.Blocked = true
	if c.OnFail.Respond != nil {
		if err := r.mem.respond(ctx, c.OnFail.Respond); err != nil {
			return control{}, err
		}
	}
	switch f := c.OnFail; {
	case f.Handoff.Value != "":
		return control{kind: handoff, target: f.Handoff}, nil
	case f.Escalate:
		return control{kind: escalate}, nil
	case len(f.Collect) > 0 && r.collect != nil:
		return r.collect(ctx, i, f.Respond != nil)
	case f.Retry:
		return control{kind: again}, nil
	case f.Goto.Value != "":
		return control{kind: jump, target: f.Goto, excused: i + 1}, nil
	}
	return control{kind: halt}, nil
}
