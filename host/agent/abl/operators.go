package abl

import (
	"math"
	"strings"
)

func (ev *evaluator) unary(n *unary) (any, error) {
	x, err := ev.eval(n.x)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case opIsSet:
		return !isUnset(x), nil
	case opIsNotSet:
		return isUnset(x), nil
	case opIsNumber:
		ev.spend(conversionCost(x))
		_, ok := numeric(x)
		return ok, nil
	case opNot:
		if ev.kleene && isUnset(x) {
			return nil, nil
		}
		return !IsTruthy(x), nil
	default:
		return ev.arithmetic(n.at, "-", 0.0, x)
	}
}

// numeric returns a number if the value is a number, or a text that contains a number.
func numeric(v any) (float64, bool) {
	if _, isBool := v.(bool); isBool {
		return 0, false
	}
	return toNumber(v)
}

func (ev *evaluator) binary(n *binary) (any, error) {
	l, err := ev.eval(n.l)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case opAnd:
		return ev.junction(l, n.r, false)
	case opOr:
		return ev.junction(l, n.r, true)
	case opImplies:
		if ev.kleene && isUnset(l) {
			return ev.junction(nil, n.r, true)
		}
		return ev.junction(!IsTruthy(l), n.r, true)
	}
	r, err := ev.eval(n.r)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case "+", "-", "*", "/", "%":
		return ev.arithmetic(n.at, n.op, l, r)
	}
	if ev.kleene && (isUnset(l) || isUnset(r)) {
		return nullComparison(n, l, r), nil
	}
	return ev.comparison(n, l, r)
}

// junction evaluates the operators AND and OR. If an operand of AND is false, the result is false.
// If an operand of OR is true, the result is true.
func (ev *evaluator) junction(l any, right node, decisive bool) (any, error) {
	lUnknown := ev.kleene && isUnset(l)
	if !lUnknown && IsTruthy(l) == decisive {
		return decisive, nil
	}
	r, err := ev.eval(right)
	if err != nil {
		return nil, err
	}
	rUnknown := ev.kleene && isUnset(r)
	switch {
	case !rUnknown && IsTruthy(r) == decisive:
		return decisive, nil
	case lUnknown || rUnknown:
		return nil, nil
	default:
		return !decisive, nil
	}
}

// nullComparison compares two operands. At least one of them is not set, so the rules of Kleene's
// logic apply. If one operand is the literal null, the operators "==" and "!=" test whether the
// other operand is set. In all other cases, the result is unknown.
func nullComparison(n *binary, l, r any) any {
	other := r
	if !isNullLiteral(n.l) {
		if !isNullLiteral(n.r) {
			return nil
		}
		other = l
	}
	switch n.op {
	case opEqual:
		return isUnset(other)
	case opNotEqual:
		return !isUnset(other)
	default:
		return nil
	}
}

func isNullLiteral(n node) bool {
	constant, ok := n.(*literal)
	return ok && isUnset(constant.value)
}

func (ev *evaluator) comparison(n *binary, l, r any) (any, error) {
	switch n.op {
	case opEqual:
		return ev.equal(l, r, 0)
	case opNotEqual:
		if isUnset(l) || isUnset(r) {
			return true, nil
		}
		same, err := ev.equal(l, r, 0)
		return !same, err
	case opLess, opLessEq, opGreater, opGreaterEq:
		return ev.ordered(n, l, r)
	case opIn:
		return ev.in(n.at, l, r)
	case opNotIn:
		found, err := ev.in(n.at, l, r)
		return !found, err
	default:
		return ev.textOperator(n, l, r)
	}
}

// arithmetic applies an arithmetic operator to two operands. If an operand is not a number, or if
// the result is not finite, the result is null. If the operator is "+" and an operand is a text
// that is not a number, the operands are joined as texts.
func (ev *evaluator) arithmetic(at Position, op string, l, r any) (any, error) {
	ev.spend(conversionCost(l) + conversionCost(r))
	a, okA := toNumber(l)
	b, okB := toNumber(r)
	if op == "+" && (!okA && isString(l) || !okB && isString(r)) {
		return ev.concat(l, r)
	}
	if !okA || !okB {
		operand := l
		if okA {
			operand = r
		}
		ev.warnf(at, "an operand of the operator %s is %s, not a number; the result is null", op, describe(operand))
		return nil, nil
	}
	result := finite(compute(op, a, b))
	if result == nil {
		ev.warnf(at, "the result of the operator %s is not finite and was replaced by null", op)
	}
	return result, nil
}

func compute(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b // if the operand b is 0, the result is not finite
	default:
		return math.Mod(a, b)
	}
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}

// describe returns the type of a value, for use in a warning. Warnings do not contain the value
// itself, because the value can be confidential.
func describe(v any) string {
	switch t := TypeOf(v); t {
	case "null", "undefined":
		return "not set"
	case "string":
		return "a text"
	case "array", "object":
		return "an " + t
	default:
		return "a " + t
	}
}

func (ev *evaluator) concat(l, r any) (any, error) {
	a, err := ev.text(l)
	if err != nil {
		return nil, err
	}
	b, err := ev.text(r)
	if err != nil {
		return nil, err
	}
	return ev.produce(a + b)
}

// produce charges the cost of a new text. produce also checks the length of the text.
func (ev *evaluator) produce(s string) (any, error) {
	if len(s) > MaxTextChars && chars(s) > MaxTextChars {
		return nil, ErrTooLong
	}
	return s, ev.charge(len(s) / 64)
}

// textOperator evaluates the operators "contains", "startsWith", "endsWith" and "matches".
func (ev *evaluator) textOperator(n *binary, l, r any) (any, error) {
	if isUnset(l) || isUnset(r) {
		return false, nil
	}
	if n.op == opContains {
		switch l.(type) {
		case []any, map[string]any:
			return ev.in(n.at, r, l)
		}
	}
	s, okS := scalarText(l)
	part, okPart := scalarText(r)
	if !okS || !okPart {
		ev.warnf(n.at, "the operator %s compares texts, not %s; the result is false", n.op, describe(l))
		return false, nil
	}
	if err := ev.charge((len(s) + len(part)) / 64); err != nil {
		return nil, err
	}
	switch n.op {
	case opContains:
		return strings.Contains(s, part), nil
	case opStarts:
		return strings.HasPrefix(s, part), nil
	case opEnds:
		return strings.HasSuffix(s, part), nil
	default:
		return ev.matches(n.at, s, part)
	}
}

// The method "in" reports whether a list contains a value, or whether an object has a key.
func (ev *evaluator) in(at Position, l, r any) (bool, error) {
	switch r := r.(type) {
	case []any:
		for _, item := range r {
			if same, err := ev.equal(l, item, 0); same || err != nil {
				return same, err
			}
		}
		return false, nil
	case map[string]any:
		key, ok := scalarText(l)
		_, found := r[key]
		return ok && found && !isUnset(l), nil
	default:
		ev.warnf(at, "the right operand of IN is %s, not a list", describe(r))
		return false, nil
	}
}
