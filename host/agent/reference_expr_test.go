package agent_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// refTruth is one of the three results of three-valued logic.
type refTruth int

const (
	refUnknown refTruth = iota
	refFalse
	refYes
)

// eval evaluates an expression of the flow. A name without a value is evaluated as null.
func (t *refTurn) eval(e *refExpr) any {
	arg := func(i int) any { return t.eval(e.args[i]) }
	switch e.op {
	case "lit":
		return e.lit
	case "ref":
		return t.lookup(e.ref)
	case "COALESCE":
		for i := range e.args {
			if v := arg(i); v != nil {
				return v
			}
		}
		return nil
	case "LENGTH":
		switch v := arg(0).(type) {
		case string:
			return float64(utf8.RuneCountInString(v))
		case []any:
			return float64(len(v))
		}
		return 0.0
	case "+", "-":
		return refArithmetic(e.op, arg(0), arg(1))
	case "SET":
		return arg(0) != nil
	case "NOT SET":
		return arg(0) == nil
	case "NOT":
		return !refTrue(arg(0))
	case "AND":
		return refTrue(arg(0)) && refTrue(arg(1))
	case "OR":
		return refTrue(arg(0)) || refTrue(arg(1))
	case "IMPLIES":
		return !refTrue(arg(0)) || refTrue(arg(1))
	case "==":
		return refEqual(arg(0), arg(1))
	case "!=":
		l, r := arg(0), arg(1)
		return l == nil || r == nil || !refEqual(l, r)
	}
	return refOrdered(e.op, arg(0), arg(1))
}

// truth evaluates the condition of a constraint.
func (t *refTurn) truth(e *refExpr) refTruth {
	not := map[refTruth]refTruth{refUnknown: refUnknown, refFalse: refYes, refYes: refFalse}
	switch e.op {
	case "NOT":
		return not[t.truth(e.args[0])]
	case "AND":
		return not[refOr(not[t.truth(e.args[0])], not[t.truth(e.args[1])])]
	case "OR":
		return refOr(t.truth(e.args[0]), t.truth(e.args[1]))
	case "IMPLIES":
		return refOr(not[t.truth(e.args[0])], t.truth(e.args[1]))
	case "==", "!=", "<", "<=", ">", ">=":
		if t.value(e.args[0]) == nil || t.value(e.args[1]) == nil {
			return refUnknown
		}
	}
	switch v := t.value(e); {
	case v == nil:
		return refUnknown
	case refTrue(v):
		return refYes
	}
	return refFalse
}

// refOr is true if at least one operand is true, and false if both operands are false. Otherwise
// refOr is unknown.
func refOr(l, r refTruth) refTruth {
	switch {
	case l == refYes || r == refYes:
		return refYes
	case l == refFalse && r == refFalse:
		return refFalse
	}
	return refUnknown
}

// value evaluates an operand in the condition of a constraint. If an operand is a condition with an
// unknown result, its value is null.
func (t *refTurn) value(e *refExpr) any {
	switch e.op {
	case "lit", "ref", "SET", "NOT SET":
		return t.eval(e)
	case "NOT", "AND", "OR", "IMPLIES":
		switch t.truth(e) {
		case refYes:
			return true
		case refFalse:
			return false
		}
		return nil
	}
	values := make([]*refExpr, len(e.args))
	for i, a := range e.args {
		values[i] = &refExpr{op: "lit", lit: t.value(a)}
	}
	switch e.op {
	case "==", "!=", "<", "<=", ">", ">=":
		if values[0].lit == nil || values[1].lit == nil {
			return nil
		}
	}
	return t.eval(&refExpr{op: e.op, args: values})
}

func refTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != "" && v != "false"
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

func refNumber(s string) (float64, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return float64(n), err == nil
}

// refCount converts a value to a number for arithmetic.
func refCount(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case string:
		return refNumber(v)
	}
	return 0, false
}

func refArithmetic(op string, l, r any) any {
	a, okL := refCount(l)
	b, okR := refCount(r)
	_, textL := l.(string)
	_, textR := r.(string)
	switch {
	case op == "+" && (textL && !okL || textR && !okR):
		return refString(l) + refString(r)
	case !okL || !okR:
		return nil
	case op == "+":
		return a + b
	}
	return a - b
}

func refString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	content, _ := json.Marshal(v)
	return string(content)
}

func refEqual(l, r any) bool {
	if l == nil || r == nil {
		return l == nil && r == nil
	}
	a, okL := refCount(l)
	b, okR := refCount(r)
	if _, same := l.(string); okL && okR && (!same || reflect.TypeOf(l) != reflect.TypeOf(r)) {
		return a == b
	}
	return reflect.DeepEqual(l, r)
}

func refOrdered(op string, l, r any) bool {
	textL, isTextL := l.(string)
	textR, isTextR := r.(string)
	_, okL := refCount(l)
	_, okR := refCount(r)
	var sign int
	if isTextL && isTextR && !(okL && okR) {
		sign = strings.Compare(textL, textR)
	} else {
		a, okL := refSize(l)
		b, okR := refSize(r)
		if !okL || !okR {
			return false
		}
		switch {
		case a < b:
			sign = -1
		case a > b:
			sign = 1
		}
	}
	return map[string]bool{"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[op]
}

// refSize converts a value to a number for comparisons.
func refSize(v any) (float64, bool) {
	if list, ok := v.([]any); ok {
		return float64(len(list)), true
	}
	if v == nil {
		return 0, true
	}
	return refCount(v)
}
