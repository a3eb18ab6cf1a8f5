package agent

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// These are the lists of actions that a step has. The first number of State.Path identifies one of
// these lists.
const (
	rootStep = iota
	rootInput
	rootIntent
	rootDigression
	rootModel // requests to the model of the step
	rootOther // ON_START and hooks
)

// actions runs the actions of the active agent.
type actions struct {
	mem   *memory
	log   *log
	rules *rules
	// gather collects the fields that the step declares.
	gather func(ctx context.Context) (control, error)
	// path is the position of the running action. path has the same form as State.Path.
	path []int
}

// maxIndexBytes is the maximum length of a computed index that is a text.
const maxIndexBytes = 1 << 10

// root runs one of the step's lists of actions. root returns the control that results from the
// list. The argument "root" identifies the list and has the form of State.Path. If the argument
// "resume" is not empty, the list continues at the position that this argument contains.
func (a *actions) root(ctx context.Context, root []int, b *abl.Body, resume []int) (control, error) {
	a.path = append(a.path[:0], root...)
	return a.body(ctx, b, resume)
}

// body runs the actions of a nested list, such as ON_SUCCESS. If an action leaves the list, body
// returns the control of this action. If no action leaves the list, body returns the control of
// THEN.
func (a *actions) body(ctx context.Context, b *abl.Body, resume []int) (control, error) {
	depth := len(a.path)
	first := 0
	if len(resume) > 0 {
		first, resume = resume[0], resume[1:]
	}
	for i := first; i < len(b.Actions); i++ {
		if err := a.mem.charge(b.Actions[i].Position, costOfAction); err != nil {
			return control{}, err
		}
		if err := a.mem.interrupt(); err != nil {
			return control{}, err
		}
		a.path = append(a.path[:depth], i)
		ctl, err := a.action(ctx, &b.Actions[i], resume)
		if err != nil {
			return control{}, err
		}
		if ctl.kind == wait {
			a.suspend()
		}
		if ctl.kind != goOn {
			return ctl, nil
		}
		resume = nil
	}
	a.path = a.path[:depth]
	return controlOf(b.Then), nil
}

// suspend records the position of the action that waits.
func (a *actions) suspend() {
	if a.mem.state.Path == nil && a.path[0] != rootOther {
		a.mem.state.Path = slices.Clone(a.path)
		a.mem.state.Result = abl.Plain(a.mem.result)
	}
}

// action runs an action. If the argument "resume" is not empty, the method does not run the action
// again, but continues in its list ON_SUCCESS or ON_FAIL.
func (a *actions) action(ctx context.Context, act *abl.Action, resume []int) (control, error) {
	switch act.Kind {
	case abl.KindSet:
		return control{}, a.set(ctx, act.Set)
	case abl.KindClear:
		return control{}, a.clear(ctx, act.Clear)
	case abl.KindTransform:
		return control{}, a.transform(ctx, act.Transform)
	case abl.KindRespond:
		return control{}, a.mem.respond(ctx, act.Respond)
	case abl.KindCheck:
		return a.check(ctx, act, resume)
	case abl.KindCall:
		return a.call(ctx, act, resume)
	case abl.KindGather:
		return a.gather(ctx)
	}
	return control{}, nil
}

// set sets variables one after the other. Each expression can use the variables that earlier
// assignments have set.
func (a *actions) set(ctx context.Context, list []abl.Assignment) error {
	for _, s := range list {
		value, err := a.mem.eval(ctx, s.Value)
		if err != nil {
			return err
		}
		if len(s.Indexes) > 0 {
			if err := a.setIndexed(ctx, s, value); err != nil {
				return err
			}
			continue
		}
		if err := a.mem.assign(ctx, s.Target, value); err != nil {
			return err
		}
		a.log.note(report.Trace{Kind: "set", Name: s.Target.Value, Position: a.log.place(s.Target.Position), Value: a.mem.shownJSON(s.Target.Value, value)})
	}
	return nil
}

// setIndexed sets an item of a list or a member of an object. The index is computed. If an index is
// neither a whole number nor a text, setIndexed sets nothing and adds a warning.
func (a *actions) setIndexed(ctx context.Context, s abl.Assignment, value any) error {
	path := strings.Split(s.Target.Value, ".")
	for _, index := range s.Indexes {
		at, err := a.mem.eval(ctx, index.Value)
		if err != nil {
			return err
		}
		name, ok := indexName(at)
		if !ok {
			a.log.warnf(index.Value.Position(), "the index is neither a whole number nor a text; the assignment has no effect")
			return nil
		}
		path[index.Name] = name
	}
	if err := a.mem.assignPath(ctx, s.Target, path, s.Indexes[0].Name, value); err != nil {
		return err
	}
	name := strings.Join(path, ".")
	a.log.note(report.Trace{Kind: "set", Name: name, Position: a.log.place(s.Target.Position), Value: a.mem.shownJSON(name, value)})
	return nil
}

// indexName converts an index to the name of an item or a member.
func indexName(index any) (string, bool) {
	switch index := index.(type) {
	case string:
		return index, index != "" && len(index) <= maxIndexBytes
	case float64:
		if index >= 0 && index < MaxValueBytes && index == math.Trunc(index) {
			return strconv.Itoa(int(index)), true
		}
	}
	return "", false
}

func (a *actions) clear(ctx context.Context, names []abl.Name) error {
	for _, name := range names {
		if err := a.mem.clear(ctx, name); err != nil {
			return err
		}
		a.log.note(report.Trace{Kind: "clear", Name: name.Value, Position: a.log.place(name.Position)})
	}
	return nil
}

// check evaluates CHECK. If the condition of CHECK is not true, the list ON_FAIL runs. If ON_FAIL
// does not name a successor, the turn then ends.
func (a *actions) check(ctx context.Context, act *abl.Action, resume []int) (control, error) {
	if len(resume) == 0 {
		ok, err := a.mem.holds(ctx, act.Check)
		if err != nil {
			return control{}, err
		}
		a.log.note(report.Trace{Kind: "check", Position: a.log.place(act.Position), Result: passed(ok)})
		if ok {
			return control{}, nil
		}
	}
	return a.failed(ctx, act, resume)
}

func passed(ok bool) string {
	if ok {
		return "passed"
	}
	return "failed"
}

// failed runs the list ON_FAIL of a CALL or a CHECK.
func (a *actions) failed(ctx context.Context, act *abl.Action, resume []int) (control, error) {
	ctl, err := a.follow(ctx, act.OnFail, 1, resume)
	if err == nil && ctl.kind == goOn {
		ctl.kind = halt
	}
	return ctl, err
}

// follow runs the list ON_SUCCESS or ON_FAIL. The argument "which" is the number of the list in
// State.Path.
func (a *actions) follow(ctx context.Context, b *abl.Body, which int, resume []int) (control, error) {
	if b == nil {
		return control{}, nil
	}
	if len(resume) > 0 {
		resume = resume[1:]
	}
	a.path = append(a.path, which)
	return a.body(ctx, b, resume)
}

// call calls a tool. If no ON_FAIL handles a fault, the fault ends the turn.
func (a *actions) call(ctx context.Context, act *abl.Action, resume []int) (control, error) {
	if len(resume) > 0 {
		a.mem.result = a.mem.state.Result
		if resume[0] == 1 {
			return a.failed(ctx, act, resume)
		}
		return a.follow(ctx, act.OnSuccess, 0, resume)
	}
	c := act.Call
	input, err := a.arguments(ctx, c)
	if err != nil {
		return control{}, err
	}
	if ctl, err := a.rules.calling(ctx, c.Tool.Value, input); err != nil || ctl.kind != goOn {
		return ctl, err
	}
	fault, err := a.execute(ctx, c.Tool, input)
	switch {
	case err != nil:
		return control{}, err
	case fault != nil && act.OnFail == nil:
		return control{}, a.log.unhandled(c.Tool, fault)
	case fault != nil:
		return a.failed(ctx, act, nil)
	}
	if c.As.Value != "" {
		if err := a.mem.assign(ctx, c.As, a.mem.result); err != nil {
			return control{}, err
		}
	}
	if err := a.rules.fire(ctx, "tool:"+c.Tool.Value+":after"); err != nil {
		return control{}, err
	}
	return a.follow(ctx, act.OnSuccess, 0, nil)
}

// arguments returns the input of a call. arguments omits the arguments that are not set.
func (a *actions) arguments(ctx context.Context, c *abl.Call) (map[string]any, error) {
	input := make(map[string]any, len(c.Args))
	for _, arg := range c.Args {
		value, err := a.mem.eval(ctx, arg.Value)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		if err := a.mem.measure(arg.Target, value); err != nil {
			return nil, err
		}
		input[arg.Target.Value] = value
	}
	return input, nil
}

// execute calls a tool. If the call succeeds, it sets call_result, and otherwise it sets
// call_error.
func (a *actions) execute(ctx context.Context, tool abl.Name, input map[string]any) (*abi.Fault, error) {
	output, err := a.mem.env.CallTool(ctx, a.mem.agent.name, tool.Value, input)
	forget(a.mem)
	var fault *abi.Fault
	if err != nil && !errors.As(err, &fault) {
		return nil, err
	}
	entry := report.Trace{Kind: "call", Name: tool.Value, Position: a.log.place(tool.Position), Result: passed(fault == nil)}
	if fault != nil {
		a.mem.result, a.mem.failure = abl.Undefined{}, map[string]any{"code": string(fault.Code), "message": fault.Message}
		a.log.note(entry)
		return fault, nil
	}
	a.mem.result, a.mem.failure = output, abl.Undefined{}
	a.log.note(entry)
	return nil, nil
}
