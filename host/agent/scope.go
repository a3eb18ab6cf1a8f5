package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/report"
)

// scope resolves the names in expressions. scope first looks up the names "input", "call_result"
// and "call_error", then the facts of the agent, then the facts that recalls have loaded, and then
// the session variables.
type scope struct {
	ctx context.Context
	m   *memory
}

// The method "scope" returns the scope of expressions. The values of sensitive variables are not
// masked.
func (m *memory) scope(ctx context.Context) abl.Scope { return scope{ctx, m} }

// options returns the options of an evaluation. All evaluations of a turn share one budget.
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

// The method "found" returns the value of a single name. This value can be undefined.
func found(value any) (any, int, error) {
	if _, undefined := value.(abl.Undefined); undefined {
		return nil, 0, nil
	}
	return value, 1, nil
}

// readFact returns the value of a fact or, if no value is stored, the default of the fact. readFact
// returns null if the agent cannot read the fact.
func (m *memory) readFact(ctx context.Context, f *abl.Fact) (any, error) {
	if f.Access == abl.AccessWrite {
		m.log.note(report.Trace{Kind: "recall", Name: f.Value, Position: m.log.place(f.Position), Result: "denied"})
		m.log.warnf(f.Position, "the fact %s cannot be read", f.Value)
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

// holds reports whether a condition of the flow is true. If the expression is nil, there is no
// condition, and the result is true.
func (m *memory) holds(ctx context.Context, x *abl.Expr) (bool, error) {
	if x == nil {
		return true, nil
	}
	value, err := m.eval(ctx, x)
	return abl.IsTruthy(value), err
}

// render renders a message. Sensitive values appear in their display form.
func (m *memory) render(ctx context.Context, text *abl.Template) (string, error) {
	o := m.options()
	if len(m.agent.masks) > 0 {
		o.Shown = maskedScope{m.scope(ctx), m.agent.masks}
	}
	s, warnings, err := text.Render(m.scope(ctx), o)
	m.log.warnings(warnings)
	return s, m.located(err, text.Position())
}

// located converts an error of an evaluation to a fault with a position. located returns other
// errors unchanged.
func (m *memory) located(err error, at abl.Position) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, abl.ErrCost):
		return m.log.faultf(at, abi.CallLimit, "the expressions of the turn are too expensive")
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

// forget empties the cache of facts, which a tool can have changed.
func forget(m *memory) { clear(m.cache) }
