package abl

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// DefaultCost is the value that Options.Cost has by default.
const DefaultCost = 1_000_000

// maxWarnings is the maximum number of warnings that one evaluation can add.
const maxWarnings = 20

// Errors of evaluations. Match them with errors.Is.
var (
	ErrCost     = errors.New("the expression is too expensive")
	ErrTooLong  = fmt.Errorf("a text is longer than %d characters", MaxTextChars)
	ErrTooDeep  = fmt.Errorf("a value is nested deeper than %d levels", maxValueDepth)
	ErrNoRandom = errors.New("UNIQUE_ID has no source of random numbers")
)

// Options contains the inputs of an evaluation, except for the scope.
type Options struct {
	// Now is the time that the function NOW returns.
	Now time.Time
	// Random is the source of random numbers for the function UNIQUE_ID. If Random is nil,
	// UNIQUE_ID fails.
	Random *rand.Rand
	// Cost is the maximum number of steps of an evaluation; 0 means DefaultCost. A step takes about
	// 100 ns or less.
	Cost int
	// Remaining is a budget of steps that several evaluations share. Each evaluation subtracts its
	// steps from the budget. If Remaining is not nil, Cost is ignored.
	Remaining *int
	// Interrupt is called about every 16,000 steps of an evaluation. If Interrupt returns an error,
	// the evaluation ends. If Interrupt is nil, evaluations are not interrupted.
	Interrupt func() error
	// Shown is the scope of the expressions that a template prints. The conditions in a template
	// always use the scope that is passed to Render. If Shown is nil, the printed expressions also
	// use that scope.
	Shown Scope
}

// Warning is a probable mistake that an evaluation found, such as a number that is not set.
type Warning struct {
	Position
	Message string `json:"message"`
}

// Result is the result of an evaluation.
type Result struct {
	// Value is the value of the expression. The value can be Undefined.
	Value    any
	Warnings []Warning
}

// Truth is the result of a condition in three-valued logic. The result is true, false or unknown.
// It can be unknown if an operand is not set.
type Truth uint8

// These are the results of a condition.
const (
	Unknown Truth = iota
	False
	True
)

// String returns the name of the result.
func (t Truth) String() string { return [...]string{"unknown", "false", "true"}[t] }

// Eval evaluates the expression. The error is ErrCost, ErrTooLong, ErrTooDeep, ErrNoRandom, or an
// error of the scope or of Options.Interrupt.
func (e *Expr) Eval(scope Scope, o Options) (Result, error) {
	ev := newEvaluator(scope, o)
	value, err := ev.eval(e.root)
	return Result{Value: value, Warnings: ev.warnings}, err
}

// Truth evaluates the expression as the condition of a constraint. If an operand of a comparison is
// not set, the result of the comparison is unknown. The operators AND, OR, NOT and IMPLIES follow
// Kleene's three-valued logic.
func (e *Expr) Truth(scope Scope, o Options) (Truth, []Warning, error) {
	ev := newEvaluator(scope, o)
	ev.kleene = true
	value, err := ev.eval(e.root)
	switch {
	case err != nil || isUnset(value):
		return Unknown, ev.warnings, err
	case IsTruthy(value):
		return True, ev.warnings, nil
	default:
		return False, ev.warnings, nil
	}
}

// evaluator evaluates one expression. In Kleene's logic, the value null stands for the result
// "unknown".
type evaluator struct {
	scope    Scope
	options  Options
	cost     *int // the remaining steps
	kleene   bool
	due      bool // true if the next charge must call Interrupt
	warnings []Warning
}

func newEvaluator(scope Scope, o Options) *evaluator {
	if o.Cost == 0 {
		o.Cost = DefaultCost
	}
	if scope == nil {
		scope = Variables(nil)
	}
	if o.Remaining == nil {
		o.Remaining = &o.Cost
	}
	return &evaluator{scope: scope, options: o, cost: o.Remaining}
}

// charge counts steps. The cost of an operation is proportional to the sizes of the values that the
// operation uses.
func (ev *evaluator) charge(steps int) error {
	if ev.spend(steps); *ev.cost < 0 {
		return ErrCost
	}
	if ev.due && ev.options.Interrupt != nil {
		ev.due = false
		return ev.options.Interrupt()
	}
	return nil
}

// interruptBits determines how often Options.Interrupt is called. The number of steps between two
// calls is 2 to the power of interruptBits.
const interruptBits = 14

// spend subtracts steps from the budget. If the steps exceed the budget, spend does not fail, but
// the next call to the method "charge" does.
func (ev *evaluator) spend(steps int) {
	before := *ev.cost
	*ev.cost -= steps
	ev.due = ev.due || before>>interruptBits != *ev.cost>>interruptBits
}

// conversionCost returns the cost, in steps, of converting a value to a number or a date. Only the
// conversion of texts has a cost.
func conversionCost(v any) (steps int) {
	s, ok := v.(string)
	if !ok {
		return 0
	}
	if len(s) <= maxNumberBytes {
		steps = len(s) / 4
	}
	if mayBeDate(s) {
		steps += 20
	}
	return steps
}

func (ev *evaluator) warnf(at Position, format string, args ...any) {
	if len(ev.warnings) < maxWarnings {
		ev.warnings = append(ev.warnings, Warning{at, fmt.Sprintf(format, args...)})
	}
}

func (ev *evaluator) eval(n node) (any, error) {
	if err := ev.charge(1); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *literal:
		return n.value, nil
	case *path:
		return ev.path(n)
	case *member:
		return ev.member(n)
	case *arrayNode:
		return ev.array(n)
	case *objectNode:
		return ev.object(n)
	case *unary:
		return ev.unary(n)
	case *binary:
		return ev.binary(n)
	case *conditional:
		return ev.conditional(n)
	case *call:
		return ev.call(n)
	}
	return Undefined{}, nil
}

// path resolves a dotted path. The scope resolves one or more names at the start of the path. Each
// further name selects a member of the value before it. The name "now" is a call to the function
// NOW, unless the scope defines a variable with this name.
func (ev *evaluator) path(n *path) (any, error) {
	value, names, err := ev.scope.Lookup(n.names)
	if err != nil {
		return nil, err
	}
	if names <= 0 {
		if len(n.names) == 1 && strings.EqualFold(n.names[0], "now") {
			return formatTime(ev.options.Now), nil
		}
		return Undefined{}, nil
	}
	for _, name := range n.names[min(names, len(n.names)):] {
		if value, err = ev.memberOf(value, name); err != nil {
			return nil, err
		}
	}
	return value, nil
}

func (ev *evaluator) memberOf(v any, name string) (any, error) {
	if s, ok := v.(string); ok {
		if err := ev.charge(len(s) / 64); err != nil {
			return nil, err
		}
	}
	return memberOf(v, name), nil
}

// memberOf returns the member with the given name from a value. Arrays and texts have only the
// member "length".
func memberOf(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if value, ok := v[name]; ok {
			return value
		}
	case []any:
		if name == "length" {
			return float64(len(v))
		}
	case string:
		if name == "length" {
			return float64(chars(v))
		}
	}
	return Undefined{}
}

func (ev *evaluator) member(n *member) (any, error) {
	base, err := ev.eval(n.base)
	if err != nil {
		return nil, err
	}
	if n.index == nil {
		return ev.memberOf(base, n.name)
	}
	index, err := ev.eval(n.index)
	if err != nil {
		return nil, err
	}
	switch base := base.(type) {
	case []any:
		i, ok := toNumber(index)
		if at := truncated(i); ok && float64(at) == i && at >= 0 && at < len(base) {
			return base[at], nil
		}
	case map[string]any:
		if key, ok := scalarText(index); ok && !isUnset(index) {
			return memberOf(base, key), nil
		}
	}
	return Undefined{}, nil
}

func (ev *evaluator) array(n *arrayNode) (any, error) {
	items := make([]any, len(n.items))
	for i, item := range n.items {
		value, err := ev.eval(item)
		if err != nil {
			return nil, err
		}
		items[i] = Plain(value)
	}
	return items, nil
}

func (ev *evaluator) object(n *objectNode) (any, error) {
	members := make(map[string]any, len(n.keys))
	for i, key := range n.keys {
		value, err := ev.eval(n.values[i])
		if err != nil {
			return nil, err
		}
		members[key] = Plain(value)
	}
	return members, nil
}

func (ev *evaluator) conditional(n *conditional) (any, error) {
	cond, err := ev.eval(n.cond)
	if err != nil {
		return nil, err
	}
	switch {
	case ev.kleene && isUnset(cond):
		return nil, nil
	case IsTruthy(cond):
		return ev.eval(n.then)
	default:
		return ev.eval(n.els)
	}
}

// call evaluates a function. Some functions choose between values, such as COALESCE. They evaluate
// only the arguments that determine the result.
func (ev *evaluator) call(n *call) (any, error) {
	if n.fn.lazy != nil {
		return n.fn.lazy(ev, n)
	}
	args := make([]any, len(n.args))
	for i, arg := range n.args {
		value, err := ev.eval(arg)
		if err != nil {
			return nil, err
		}
		args[i] = Plain(value)
	}
	return n.fn.apply(&invocation{ev: ev, at: n.at, name: n.fn.name, args: args})
}

// sortCost returns the cost, in steps, of sorting n keys.
func sortCost(n int) int { return n + n*bits.Len(uint(n))/4 }

// sortedKeys returns the keys of an object, sorted. Without sorting, results would depend on the
// random order of a map.
func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
