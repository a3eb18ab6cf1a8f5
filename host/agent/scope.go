package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// scope resolves the names in expressions. scope looks up a name in this order: the names "input",
// "call_result" and "call_error", the facts of the agent, the facts that recalls have loaded, and
// the session variables.
type scope struct {
	ctx context.Context
	m   *memory
}

// scope returns the scope in which expressions are evaluated. In this scope, the values of
// sensitive variables are not masked.
func (m *memory) scope(ctx context.Context) abl.Scope { return scope{ctx, m} }

// options returns the options for evaluating an expression. All evaluations of a turn share one
// budget.
func (m *memory) options() abl.Options {
	return abl.Options{Now: m.env.Now(), Random: m.env.Random(), Remaining: &m.cost, Interrupt: m.interrupt}
}

// Lookup implements abl.Scope.
func (s scope) Lookup(path []string) (any, int, error) {
	m := s.m
	switch path[0] {
	case "input":
		return found(m.input)
	case "call_result":
		return found(m.result)
	case "call_error":
		return found(m.failure)
	}
	if f, n := m.agent.fact(path); f != nil {
		value, err := m.readFact(s.ctx, f)
		return value, n, err
	}
	if value, ok := m.arguments[path[0]]; ok {
		return value, 1, nil
	}
	if len(m.session.Injected) > 0 {
		for n := len(path); n > 0; n-- {
			if value, ok := m.session.Injected[strings.Join(path[:n], ".")]; ok {
				return value, n, nil
			}
		}
	}
	if value, ok := m.state.Variables[path[0]]; ok {
		return value, 1, nil
	}
	if value, ok := m.kept[path[0]]; ok {
		return value, 1, nil
	}
	return nil, 0, nil
}

// found returns the value of a name without dots. This value can be undefined.
func found(value any) (any, int, error) {
	if _, undefined := value.(abl.Undefined); undefined {
		return nil, 0, nil
	}
	return value, 1, nil
}

// readFact returns the stored value of a fact. If no value is stored, readFact returns the default
// of the fact. If the agent cannot read the fact, readFact returns null.
func (m *memory) readFact(ctx context.Context, f *abl.Fact) (any, error) {
	if f.Access == abl.AccessWrite {
		m.log.note(report.Trace{Kind: "recall", Name: f.Value, Position: m.log.place(f.Position), Result: "denied"})
		m.log.warnf(f.Position, "the fact %s has ACCESS: write and cannot be read; its value is null here", f.Value)
		return nil, nil
	}
	c, err := storedFact(ctx, m, f)
	if err != nil {
		return nil, err
	}
	if !c.ok {
		return f.Default, nil
	}
	return c.value, nil
}

// storedFact returns the stored value of a fact, even if the agent cannot read the fact.
func storedFact(ctx context.Context, m *memory, f *abl.Fact) (cachedFact, error) {
	c, ok := m.cache[f.Value]
	if ok {
		return c, nil
	}
	var err error
	if c.value, c.ok, err = m.env.Fact(ctx, m.agent.name, f.Value); err != nil {
		return cachedFact{}, err
	}
	m.remember(f.Value, c)
	return c, nil
}

// remember adds a fact to the cache of the turn.
func (m *memory) remember(path string, c cachedFact) {
	if m.cache == nil {
		m.cache = map[string]cachedFact{}
	}
	m.cache[path] = c
	m.log.hide(path, c.value)
}

// eval evaluates an expression. Undefined becomes null.
func (m *memory) eval(ctx context.Context, x *abl.Expr) (any, error) {
	return m.evalIn(m.scope(ctx), x)
}

func (m *memory) evalIn(s abl.Scope, x *abl.Expr) (any, error) {
	r, err := x.Eval(s, m.options())
	m.log.warnings(r.Warnings)
	return abl.Plain(r.Value), m.located(err, x.Position())
}

// holds reports whether a condition of the flow is true. If the expression is nil, the flow
// has no condition, and the result is true.
func (m *memory) holds(ctx context.Context, x *abl.Expr) (bool, error) {
	if x == nil {
		return true, nil
	}
	value, err := m.eval(ctx, x)
	return abl.IsTruthy(value), err
}

// render renders a message. In the text, sensitive values appear in their display form.
func (m *memory) render(ctx context.Context, text *abl.Template) (string, error) {
	o := m.options()
	if len(m.agent.masks) > 0 {
		o.Shown = maskedScope{m.scope(ctx), m.agent.masks}
	}
	s, warnings, err := text.Render(m.scope(ctx), o)
	m.log.warnings(warnings)
	return s, m.located(err, text.Position())
}

// located adds a position to an error of an evaluation by converting the error to a fault. Other
// errors are returned unchanged.
func (m *memory) located(err error, at abl.Position) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, abl.ErrCost):
		return m.log.faultf(at, abi.CallLimit, "the expressions of the turn take too many steps to evaluate").
			WithHint("shorten texts and lists, and avoid nested loops and complex patterns; this limit is fixed")
	case errors.Is(err, abl.ErrTooLong), errors.Is(err, abl.ErrTooDeep):
		return m.log.faultf(at, abi.TooLarge, "%s", err.Error())
	default:
		return err
	}
}

// ask sends the user a message that is not a result.
func ask(ctx context.Context, m *memory, text *abl.Template) error {
	message, err := m.render(ctx, text)
	if err != nil {
		return err
	}
	m.log.note(report.Trace{Kind: "respond", Position: m.log.place(text.Position())})
	return m.log.ask(text.Position(), message)
}

// respond sends a result to the user.
func (m *memory) respond(ctx context.Context, text *abl.Template) error {
	message, err := m.render(ctx, text)
	if err != nil {
		return err
	}
	m.log.note(report.Trace{Kind: "respond", Position: m.log.place(text.Position())})
	return m.log.say(text.Position(), message)
}

// forget empties the cache, because a tool can have changed the facts in it.
func forget(m *memory) { clear(m.cache) }
