package agent

import (
	"context"

	"github.com/toolrun/toolrun/host/agent/abl"
)

// body runs the actions of a body. The control is that of the first action that does not go on, or
// that of THEN.
func (t *turn) body(ctx context.Context, b *abl.Body) (control, error) {
	for i := range b.Actions {
		ctl, err := t.action(ctx, nil, &b.Actions[i])
		if err != nil || ctl.kind != goOn {
			return ctl, err
		}
	}
	return controlOf(b.Then), nil
}

// action runs an action. step is the step that contains the action directly, or nil.
func (t *turn) action(ctx context.Context, step *abl.Step, a *abl.Action) (control, error) {
	switch a.Kind {
	case abl.KindSet:
		return control{}, t.assignments(ctx, a.Set)
	case abl.KindClear:
		for _, name := range a.Clear {
			t.log.note(Trace{Kind: "clear", Name: name.Value, Position: t.log.place(name.Position)})
			if err := t.mem.clear(ctx, name); err != nil {
				return control{}, err
			}
		}
	case abl.KindRespond:
		return control{}, t.mem.respond(ctx, a.Respond)
	}
	return control{}, nil
}

// assignments sets variables in order. Each expression sees what the assignments before it have set.
func (t *turn) assignments(ctx context.Context, list []abl.Assignment) error {
	for _, a := range list {
		value, err := t.mem.eval(ctx, a.Value)
		if err != nil {
			return err
		}
		if err := t.mem.assign(ctx, a.Target, value); err != nil {
			return err
		}
		t.log.note(Trace{Kind: "set", Name: a.Target.Value, Position: t.log.place(a.Target.Position), Value: t.mem.shownJSON(a.Target.Value, value)})
	}
	return nil
}

// hook runs the hooks of a name. The fault of a hook undoes what the hook did, and ends the turn only
// if the hook is critical.
func (t *turn) hook(ctx context.Context, name string) error {
	return nil
}
