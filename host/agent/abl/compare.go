package abl

import (
	"cmp"
	"strings"
)

// maxValueDepth is the maximum nesting depth of a value that is compared or converted to text.
const maxValueDepth = 200

// equal reports whether two values are equal. Null and undefined are equal. Values of different
// types can be equal. For example, 3 equals "3", true equals 1 and "true", and false equals 0 and
// "false". Two dates are equal if they denote the same instant. Two arrays or two objects are equal
// if their members are equal.
func (ev *evaluator) equal(l, r any, depth int) (bool, error) {
	if depth > maxValueDepth {
		return false, ErrTooDeep
	}
	if err := ev.charge(1); err != nil {
		return false, err
	}
	if isUnset(l) || isUnset(r) {
		return isUnset(l) && isUnset(r), nil
	}
	switch a := l.(type) {
	case []any:
		b, ok := r.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return ev.equalItems(a, b, depth)
	case map[string]any:
		b, ok := r.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return equalMembers(ev, a, b, depth)
	}
	return ev.equalScalars(l, r)
}

func (ev *evaluator) equalItems(a, b []any, depth int) (bool, error) {
	for i := range a {
		if same, err := ev.equal(a[i], b[i], depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equalMembers(ev *evaluator, a, b map[string]any, depth int) (bool, error) {
	if err := ev.charge(sortCost(len(a))); err != nil {
		return false, err
	}
	for _, key := range sortedKeys(a) { // the cost must not depend on the order of the map
		other, ok := b[key]
		if !ok {
			return false, nil
		}
		if same, err := ev.equal(a[key], other, depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalScalars compares two values that are set. The argument "l" is neither an array nor an
// object.
func (ev *evaluator) equalScalars(l, r any) (bool, error) {
	a, isTextA := l.(string)
	b, isTextB := r.(string)
	if isTextA && isTextB {
		if err := ev.charge(min(len(a), len(b)) / 64); err != nil || a == b {
			return a == b, err
		}
		if !mayBeDate(a) || !mayBeDate(b) {
			return false, nil
		}
		ev.spend(50)
		timeA, okA := parseDate(a)
		timeB, okB := parseDate(b)
		return okA && okB && timeA.Equal(timeB), nil
	}
	if flag, ok := l.(bool); ok && isTextB {
		return b == formatBool(flag), nil
	}
	if flag, ok := r.(bool); ok && isTextA {
		return a == formatBool(flag), nil
	}
	ev.spend(conversionCost(l) + conversionCost(r))
	x, okX := toNumber(l)
	y, okY := toNumber(r)
	return okX && okY && x == y, nil
}

func formatBool(b bool) string {
	s, _ := scalarText(b)
	return s
}

// ordered evaluates the operators "<", "<=", ">" and ">=".
func (ev *evaluator) ordered(n *binary, l, r any) (any, error) {
	c, ok, err := ev.order(n, l, r)
	if err != nil || !ok {
		return false, err
	}
	switch n.op {
	case opLess:
		return c < 0, nil
	case opLessEq:
		return c <= 0, nil
	case opGreater:
		return c > 0, nil
	default:
		return c >= 0, nil
	}
}

// order compares two values. Two dates are compared by time. Two texts are compared by their
// characters, unless both texts are numbers. All other values are converted to numbers. The second
// result is false if the values cannot be compared.
func (ev *evaluator) order(n *binary, l, r any) (int, bool, error) {
	a, isTextA := l.(string)
	b, isTextB := r.(string)
	ev.spend(conversionCost(l) + conversionCost(r))
	if isTextA && isTextB {
		timeA, okA := parseDate(a)
		timeB, okB := parseDate(b)
		if okA && okB {
			return timeA.Compare(timeB), true, nil
		}
		_, okA = parseNumber(a)
		_, okB = parseNumber(b)
		if !okA || !okB {
			return strings.Compare(a, b), true, ev.charge(min(len(a), len(b)) / 64)
		}
	}
	x, okX := ev.magnitude(n, l)
	y, okY := ev.magnitude(n, r)
	return cmp.Compare(x, y), okX && okY, nil
}

// magnitude returns a number that represents a value in comparisons. The number is 0 for null and
// undefined. For an array, the number is the length of the array.
func (ev *evaluator) magnitude(n *binary, v any) (float64, bool) {
	if isUnset(v) {
		ev.warnf(n.at, "an operand of the operator %s is not set and counts as 0", n.op)
		return 0, true
	}
	if items, ok := v.([]any); ok {
		return float64(len(items)), true
	}
	x, ok := toNumber(v)
	if !ok {
		ev.warnf(n.at, "an operand of the operator %s is %s, which cannot be compared with the other operand; the result is false", n.op, describe(v))
	}
	return x, ok
}
