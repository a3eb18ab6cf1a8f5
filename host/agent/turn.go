package agent

import (
	"context"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/internal/spell"
)

// Limits of a turn.
const (
	// MaxMessageBytes is the maximum size of a message from the user.
	MaxMessageBytes = 64 << 10
	// MaxSteps is the maximum number of steps that one turn can run. MaxHandoffs is the maximum
	// number of handoffs in a turn.
	MaxSteps    = 100
	MaxHandoffs = 8
	// MaxCost is the maximum number of evaluation steps in a turn. The documentation of abl.Options
	// explains evaluation steps.
	MaxCost = 2_000_000
)

// turn performs one turn. The methods of this type are not safe for concurrent use.
type turn struct {
	request Request
	mem     *memory
	log     *log
	rules   *rules
	acts    *actions
	dialog  *dialog
	reason  *reasoner

	// unread is true until a step has used the message of the user.
	unread bool
	// steps contains all steps of the turn, in order. handoffs contains the agents that were active
	// in the turn, in order. The first item of "handoffs" is the first agent.
	steps, handoffs []string
	// agentStart is the number of messages that the turn had when the agent became active.
	// stepStart is the number of messages that the turn had when the step began to run.
	agentStart, stepStart int
	// inStep is true while a step is running. Only a step can wait for input.
	inStep bool
	// entry is the step with which the flow begins. If entry is "", the flow begins with the
	// agent's entry step, which is by default the first step.
	entry string
	// closed is true after the hooks at the end of the turn have run.
	closed bool
}

// Turn performs one turn. If another agent was active, Turn activates the agent of the request.
// Then Turn passes the message to the waiting step. Turn then executes steps until a step waits for
// input, or until the flow is complete. Finally, Turn evaluates the triggers. If Turn returns an
// error, the caller must not commit the changes to env. If a turn fails, its outcome is nil or
// incomplete. An incomplete outcome contains only the agent, the trace, and the warnings before the
// error. The error is an *abi.Fault, or an error that a method of env returned.
func (s *Set) Turn(ctx context.Context, env Env, r Request) (*report.Outcome, error) {
	t, err := s.begin(ctx, env, r)
	if err != nil {
		return nil, err
	}
	if err := t.perform(ctx); err != nil {
		return t.failed(err)
	}
	o, err := t.finish(ctx)
	if err != nil {
		return t.failed(err)
	}
	return o, nil
}

// failed returns the outcome of a failed turn. This outcome contains the trace and the warnings.
func (t *turn) failed(err error) (*report.Outcome, error) {
	err = t.log.secrets.sorted().cleanFault(err)
	t.log.clean()
	o := newOutcome()
	o.Agent, o.Trace, o.Warnings = t.mem.agent.name, t.log.outcome.Trace, t.log.outcome.Warnings
	return o, err
}

// check returns a fault if the request is malformed.
func (r Request) check() error {
	switch {
	case len(r.Message) > MaxMessageBytes:
		return errMessageSize(r.Message)
	case r.Event == "":
		return nil
	case r.HasMessage:
		return abi.Faultf(abi.InvalidArgument, "a turn must not contain both a message and an event").WithHint("omit the message or the event")
	default:
		return checkEvent(r.Event)
	}
}

func errMessageSize(message string) error {
	return abi.Faultf(abi.TooLarge, "the message has %d bytes; the limit is %d", len(message), MaxMessageBytes)
}

// begin loads the session and the agent of a request.
func (s *Set) begin(ctx context.Context, env Env, r Request) (*turn, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	session, err := env.Session(ctx)
	if err != nil {
		return nil, err
	}
	name, err := s.resolve(r.Agent, session.Active)
	if err != nil {
		return nil, err
	}
	l := &log{outcome: newOutcome()}
	env.Hide(l.hidden)
	m := newMemory(ctx, s, env, session, l)
	t := newTurn(r, m, l)
	env.OnSearch(func(ctx context.Context) error { return t.rules.fire(ctx, "search:before") })
	if r.HasMessage {
		m.input, t.unread = r.Message, true
	}
	if err := m.join(ctx, name); err != nil {
		return t, err
	}
	hideAnswer(m)
	return t, nil
}

func newTurn(r Request, m *memory, l *log) *turn {
	t := &turn{request: r, mem: m, log: l, rules: &rules{mem: m, log: l, excused: -1}}
	t.reason = &reasoner{t: t, mem: m, log: l}
	t.dialog = &dialog{t: t, mem: m, log: l}
	t.rules.collect, t.rules.withdraw = t.dialog.beginCollect, t.withdraw
	t.acts = &actions{mem: m, log: l, rules: t.rules, gather: t.dialog.gather}
	return t
}

// resolve returns the name of the agent that performs the turn.
func (s *Set) resolve(requested, active string) (string, error) {
	name := requested
	if name == "" {
		name = active
	}
	if name == "" && len(s.names) == 1 {
		name = s.names[0]
	}
	if name == "" {
		return "", abi.Faultf(abi.InvalidArgument, "the first turn of a session must select an agent").WithHint("select one of: %s", strings.Join(s.names, ", "))
	}
	return name, s.Find(name)
}

// Find returns a fault if the set does not contain an agent with the given name.
func (s *Set) Find(name string) error {
	switch {
	case s.agents[name] != nil:
		return nil
	case spell.Name(name, s.names) != "":
		return abi.Faultf(abi.NotFound, "unknown agent %s", name).WithHint("did you mean %s?", spell.Name(name, s.names))
	default:
		return abi.Faultf(abi.NotFound, "unknown agent %s", name).WithHint("the agents are %s", strings.Join(s.names, ", "))
	}
}

// perform executes the turn.
func (t *turn) perform(ctx context.Context) error {
	var ctl control
	var err error
	if t.mem.isNew || t.mem.session.Active != t.mem.agent.name {
		if ctl, err = t.activate(ctx); err != nil {
			return err
		}
	}
	if err := t.hook(ctx, "before_turn"); err != nil {
		return err
	}
	if t.request.Event == "" {
		return t.converse(ctx, ctl)
	}
	for ctl.kind == handoff {
		if ctl, err = t.handOver(ctx, ctl.target); err != nil {
			return err
		}
	}
	if err := t.rules.fire(ctx, t.request.Event); err != nil {
		return err
	}
	return t.hook(ctx, "after_turn")
}

// activate makes the active agent the agent that answers in the session. activate also resets
// variables. If the agent is new in the session, the method also fires the event "session:start"
// and runs ON_START. The result is the control that ON_START determines.
func (t *turn) activate(ctx context.Context) (control, error) {
	t.mem.session.Active = t.mem.agent.name
	t.log.note(report.Trace{Kind: "activate", Name: t.mem.agent.name, Position: t.log.place(t.mem.agent.Agent.Position)})
	t.mem.initialize()
	if !t.mem.isNew {
		return control{}, nil
	}
	t.mem.isNew = false
	if err := t.rules.fire(ctx, "session:start"); err != nil {
		return control{}, err
	}
	if t.mem.agent.OnStart == nil {
		return control{}, nil
	}
	return t.acts.root(ctx, []int{rootOther}, t.mem.agent.OnStart, nil)
}

// finish evaluates triggers, stores the states, and returns the outcome.
func (t *turn) finish(ctx context.Context) (*report.Outcome, error) {
	last := t.mem.actor
	for _, a := range t.mem.actors {
		t.mem.act(a)
		if a == last {
			t.record()
		}
		if err := t.rules.store(ctx); err != nil {
			return nil, err
		}
	}
	t.mem.session.Turns++
	if err := t.mem.save(ctx); err != nil {
		return nil, err
	}
	t.mem.act(last)
	return t.report(), nil
}

// report completes the outcome.
func (t *turn) report() *report.Outcome {
	o := t.log.outcome
	o.Agent = t.mem.agent.name
	if t.mem.state.Step != "" {
		o.Step = &t.mem.state.Step
	}
	if t.mem.state.Collecting != "" {
		o.Collecting = &t.mem.state.Collecting
	}
	for _, variables := range []map[string]any{t.mem.kept, t.mem.state.Variables} {
		for name, value := range variables {
			o.Variables[name] = t.mem.agent.shown(name, value)
		}
	}
	t.log.clean()
	return o
}

// withdraw removes the results that the active agent added to the messages.
func (t *turn) withdraw() { t.log.withdraw(t.agentStart) }

// usualTrace is the initial capacity of a trace. usualTrace is a number of entries.
const usualTrace = 48

func newOutcome() *report.Outcome {
	o := report.NewOutcome("")
	o.Trace = make([]report.Trace, 0, usualTrace)
	return o
}
