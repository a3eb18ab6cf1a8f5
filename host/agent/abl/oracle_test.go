package abl_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The oracle is a second evaluator of expressions. It follows the reference documentation of the
// language. The oracle shares no code with the package. The oracle compiles an expression to
// postfix code by the precedence of its operators. A stack machine runs this code. The oracle
// evaluates every operand of an operator. If the evaluation of an operand fails, the result is a
// special value, which some operators can ignore.

type oracleOp struct {
	name string
	n    int // the number of operands
	arg  any // contains a constant, a path, or the keys of an object
}

type (
	oracleMissing struct{}
	oracleFailure struct{}
)

var oracleWords = regexp.MustCompile(`^(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|"(?:[^"\\]|\\.)*"|[\pL_][\pL_\p{Nd}]*|==|!=|<=|>=|[-+*/%<>!()\[\]{},:.?])`)

// oracleTokens splits an expression. In strings, only these escapes are supported: \", \\ and \n.
func oracleTokens(s string) []string {
	var tokens []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		t := oracleWords.FindString(s)
		if t == "" {
			panic("oracle: no token at " + s)
		}
		tokens = append(tokens, t)
		s = s[len(t):]
	}
	return append(tokens, "")
}

type oracleCompiler struct {
	tokens []string
	code   []oracleOp
}

func oracleCompile(source string) []oracleOp {
	c := &oracleCompiler{tokens: oracleTokens(source)}
	c.expression(0)
	if c.tokens[0] != "" {
		panic("oracle: unexpected " + c.tokens[0])
	}
	return c.code
}

func (c *oracleCompiler) next() string {
	t := c.tokens[0]
	c.tokens = c.tokens[1:]
	return t
}

func (c *oracleCompiler) emit(name string, n int, arg any) {
	c.code = append(c.code, oracleOp{name, n, arg})
}

// oracleBinding contains the precedences of the binary operators.
var oracleBinding = map[string]int{
	"?": 1, "IMPLIES": 2, "OR": 3, "AND": 4, "IS": 6, "IN": 6, "NOT": 6, "matches": 6, "contains": 6, "startsWith": 6, "endsWith": 6,
	"==": 6, "!=": 6, "<": 6, "<=": 6, ">": 6, ">=": 6, "+": 7, "-": 7, "*": 8, "/": 8, "%": 8, ".": 10, "[": 10,
}

// expression compiles an expression. The precedence of each operator in this expression must be at
// least the argument "limit".
func (c *oracleCompiler) expression(limit int) {
	c.operand()
	for {
		op := c.tokens[0]
		strength := oracleBinding[op]
		if strength == 0 || strength < limit {
			return
		}
		c.next()
		c.infix(op, strength)
	}
}

func (c *oracleCompiler) infix(op string, strength int) {
	switch op {
	case "?":
		c.expression(0)
		c.next() // the colon
		c.expression(0)
		c.emit("IF", 3, nil)
	case "IMPLIES":
		c.expression(strength)
		c.emit(op, 2, nil)
	case "IS":
		if c.tokens[0] == "NOT" {
			c.next()
			op = "IS NOT"
		}
		c.next() // SET
		c.emit(op, 1, nil)
	case "NOT":
		c.next() // IN
		c.expression(strength + 1)
		c.emit("NOT IN", 2, nil)
	case ".":
		c.emit("const", 0, c.next())
		c.emit("member", 2, nil)
	case "[":
		c.expression(0)
		c.next()
		c.emit("index", 2, nil)
	default:
		c.expression(strength + 1)
		c.emit(op, 2, nil)
	}
}

func (c *oracleCompiler) operand() {
	t := c.next()
	switch {
	case t == "(":
		c.expression(0)
		c.next()
	case t == "!":
		c.expression(9)
		c.emit("NOT", 1, nil)
	case t == "NOT":
		c.expression(5)
		c.emit("NOT", 1, nil)
	case t == "-":
		c.emit("const", 0, 0.0)
		c.expression(9)
		c.emit("-", 2, nil)
	case t == "[":
		c.emit("array", c.items("]"), nil)
	case t == "{":
		c.object()
	case t[0] == '"':
		c.emit("const", 0, strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n").Replace(t[1:len(t)-1]))
	case t[0] >= '0' && t[0] <= '9':
		n, _ := strconv.ParseFloat(t, 64)
		c.emit("const", 0, n)
	case t == "true" || t == "false":
		c.emit("const", 0, t == "true")
	case t == "null":
		c.emit("const", 0, nil)
	case c.tokens[0] == "(":
		c.next()
		c.emit("call "+t, c.items(")"), nil)
	default:
		names := []string{t}
		for c.tokens[0] == "." {
			c.next()
			names = append(names, c.next())
		}
		c.emit("path", 0, names)
	}
}

// items compiles expressions up to a closing bracket. items returns the number of these
// expressions.
func (c *oracleCompiler) items(closing string) int {
	n := 0
	for c.tokens[0] != closing {
		c.expression(0)
		if n++; c.tokens[0] == "," {
			c.next()
		}
	}
	c.next()
	return n
}

func (c *oracleCompiler) object() {
	var keys []string
	for c.tokens[0] != "}" {
		keys = append(keys, c.next())
		c.next() // the colon
		c.expression(0)
		if c.tokens[0] == "," {
			c.next()
		}
	}
	c.next()
	c.emit("object", len(keys), keys)
}

// oracleRun runs the code. If the evaluation of the expression fails, the second result is false.
func oracleRun(code []oracleOp, vars map[string]any, now time.Time) (any, bool) {
	var stack []any
	for _, op := range code {
		operands := stack[len(stack)-op.n:]
		value := oracleApply(op, operands, vars, now)
		if s, ok := value.(string); ok && utf8.RuneCountInString(s) > 100_000 {
			value = oracleFailure{}
		}
		stack = append(stack[:len(stack)-op.n], value)
	}
	_, failed := stack[0].(oracleFailure)
	return stack[0], !failed
}

func oracleApply(op oracleOp, v []any, vars map[string]any, now time.Time) any {
	if value, ok := oracleChoose(op.name, v); ok {
		return value
	}
	for _, operand := range v {
		if _, failed := operand.(oracleFailure); failed {
			return operand
		}
	}
	switch op.name {
	case "const":
		return op.arg
	case "path":
		return oraclePath(op.arg.([]string), vars, now)
	case "array":
		items := []any{}
		for _, item := range v {
			items = append(items, oraclePlain(item))
		}
		return items
	case "object":
		m := map[string]any{}
		for i, key := range op.arg.([]string) {
			m[key] = oraclePlain(v[i])
		}
		return m
	case "member":
		return oracleMember(v[0], v[1].(string))
	case "index":
		return oracleIndex(v[0], v[1])
	case "NOT":
		return !oracleTruth(v[0])
	case "IS":
		return !oracleNothing(v[0])
	case "IS NOT":
		return oracleNothing(v[0])
	case "+", "-", "*", "/", "%":
		return oracleCompute(op.name, v[0], v[1])
	}
	if name, ok := strings.CutPrefix(op.name, "call "); ok {
		return oracleCall(name, v, now)
	}
	return oracleCompare(op.name, v[0], v[1])
}

// oracleChoose applies the operators and functions whose result does not always depend on every
// operand. For all other names, the second result is false.
func oracleChoose(name string, v []any) (any, bool) {
	failed := func(x any) bool { _, is := x.(oracleFailure); return is }
	decide := func(first bool, decisive bool, x any) any {
		switch {
		case first == decisive:
			return decisive
		case failed(x):
			return x
		default:
			return oracleTruth(x)
		}
	}
	switch name {
	case "AND", "OR", "IMPLIES":
		if failed(v[0]) {
			return v[0], true
		}
		first := oracleTruth(v[0]) != (name == "IMPLIES")
		return decide(first, name != "AND", v[1]), true
	case "IF", "call IF":
		switch {
		case failed(v[0]):
			return v[0], true
		case oracleTruth(v[0]):
			return v[1], true
		default:
			return v[2], true
		}
	case "call COALESCE", "call FIRST_NON_EMPTY":
		for _, x := range v {
			s, isText := x.(string)
			blank := isText && strings.TrimSpace(s) == "" && name != "call COALESCE"
			if failed(x) || !oracleNothing(x) && !blank {
				return x, true
			}
		}
		return nil, true
	}
	return nil, false
}

func oracleNothing(v any) bool { return v == nil || v == any(oracleMissing{}) }

func oraclePlain(v any) any {
	if oracleNothing(v) {
		return nil
	}
	return v
}

func oracleTruth(v any) bool {
	if oracleNothing(v) {
		return false
	}
	falsy := []string{"false", "0", `""`, `"false"`, "[]", "{}"}
	return !slices.Contains(falsy, oracleJSON(v))
}

func oracleJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func oraclePath(names []string, vars map[string]any, now time.Time) any {
	for n := len(names); n > 0; n-- {
		value, ok := vars[strings.Join(names[:n], ".")]
		if !ok {
			continue
		}
		for _, name := range names[n:] {
			value = oracleMember(value, name)
		}
		return value
	}
	if len(names) == 1 && names[0] == "now" {
		return now.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return oracleMissing{}
}

func oracleMember(v any, name string) any {
	if m, ok := v.(map[string]any); ok {
		if x, ok := m[name]; ok {
			return x
		}
		return oracleMissing{}
	}
	if name == "length" {
		switch v := v.(type) {
		case []any:
			return float64(len(v))
		case string:
			return float64(len([]rune(v)))
		}
	}
	return oracleMissing{}
}

func oracleIndex(v, index any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			if n, ok := oracleNumber(index); ok && n == float64(i) {
				return v[i]
			}
		}
	case map[string]any:
		switch index.(type) {
		case string, float64, bool:
			return oracleMember(v, oracleText(index))
		}
	}
	return oracleMissing{}
}

func oracleText(v any) string {
	switch v := v.(type) {
	case nil, oracleMissing:
		return ""
	case string:
		return v
	default:
		return oracleJSON(v) // package encoding/json formats a number in the same way as JavaScript
	}
}

var oracleDecimal = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func oracleNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		return map[bool]float64{true: 1}[v], true
	case string:
		s := strings.TrimSpace(v)
		n, err := strconv.ParseFloat(s, 64)
		return n, err == nil && len(s) <= 400 && oracleDecimal.MatchString(s)
	}
	return 0, false
}

var oracleDatePattern = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(Z|([+-])(\d\d):?(\d\d))?)?$`)

// oracleDate returns the number of seconds from the year 0 to a date, and the nanoseconds.
func oracleDate(v any) ([2]int, bool) {
	s, _ := v.(string)
	m := oracleDatePattern.FindStringSubmatch(s)
	if m == nil || len(s) > 40 {
		return [2]int{}, false
	}
	part := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	year, month, day := part(1), part(2), part(3)
	leap := year%4 == 0 && year%100 != 0 || year%400 == 0
	length := []int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	if leap {
		length[2] = 29
	}
	if month < 1 || month > 12 || day < 1 || day > length[month] || part(4) > 23 || part(5) > 59 || part(6) > 59 || part(10) > 23 || part(11) > 59 {
		return [2]int{}, false
	}
	days := 365*year + (year+3)/4 - (year+99)/100 + (year+399)/400 + day
	for _, n := range length[:month] {
		days += n
	}
	seconds := ((days*24+part(4))*60+part(5))*60 + part(6)
	offset := (part(10)*60 + part(11)) * 60
	if m[9] == "-" {
		offset = -offset
	}
	fraction, _ := strconv.ParseFloat("0"+m[7], 64)
	return [2]int{seconds - offset, int(math.Round(fraction * 1e9))}, true
}

func oracleCompute(op string, l, r any) any {
	a, okA := oracleNumber(l)
	b, okB := oracleNumber(r)
	_, textA := l.(string)
	_, textB := r.(string)
	if op == "+" && (textA && !okA || textB && !okB) {
		return oracleText(l) + oracleText(r)
	}
	if !okA || !okB || b == 0 && (op == "/" || op == "%") {
		return nil
	}
	var n float64
	switch op {
	case "+":
		n = a + b
	case "-":
		n = a - b
	case "*":
		n = a * b
	case "/":
		n = a / b
	case "%":
		n = math.Mod(a, b)
	}
	return oracleFinite(n)
}

func oracleFinite(n float64) any {
	switch {
	case n != n || math.Abs(n) > math.MaxFloat64:
		return nil
	case n == 0:
		return 0.0
	default:
		return n
	}
}

func oracleCompare(op string, l, r any) any {
	switch op {
	case "==":
		return oracleEqual(l, r)
	case "!=":
		return oracleNothing(l) || oracleNothing(r) || !oracleEqual(l, r)
	case "<":
		return oracleOrder(l, r) == -1
	case "<=":
		return oracleOrder(l, r) == -1 || oracleOrder(l, r) == 0
	case ">":
		return oracleOrder(l, r) == 1
	case ">=":
		return oracleOrder(l, r) == 1 || oracleOrder(l, r) == 0
	case "IN":
		return oracleIn(l, r)
	case "NOT IN":
		return !oracleIn(l, r)
	}
	if oracleNothing(l) || oracleNothing(r) {
		return false
	}
	_, isArray := l.([]any)
	_, isObject := l.(map[string]any)
	if isArray || isObject {
		return op == "contains" && oracleIn(r, l)
	}
	switch r.(type) {
	case []any, map[string]any:
		return false
	}
	s, part := oracleText(l), oracleText(r)
	switch op {
	case "contains":
		return strings.Contains(s, part)
	case "startsWith":
		return strings.HasPrefix(s, part)
	case "endsWith":
		return strings.HasSuffix(s, part)
	case "matches":
		re, err := regexp.Compile(part)
		return err == nil && re.MatchString(s)
	}
	panic("oracle: operator " + op)
}

func oracleIn(l, r any) bool {
	switch r := r.(type) {
	case []any:
		return slices.ContainsFunc(r, func(item any) bool { return oracleEqual(l, item) })
	case map[string]any:
		switch l.(type) {
		case string, float64, bool:
			_, ok := r[oracleText(l)]
			return ok
		}
	}
	return false
}

func oracleEqual(l, r any) bool {
	kinds := oracleKind(l) + " " + oracleKind(r)
	switch kinds {
	case "nothing nothing":
		return true
	case "array array":
		return slices.EqualFunc(l.([]any), r.([]any), oracleEqual)
	case "object object":
		return maps.EqualFunc(l.(map[string]any), r.(map[string]any), oracleEqual)
	case "text text":
		a, okA := oracleDate(l)
		b, okB := oracleDate(r)
		return l == r || okA && okB && a == b
	case "flag text", "text flag":
		return oracleText(l) == oracleText(r)
	case "number number", "flag flag", "number flag", "flag number", "number text", "text number":
		a, okA := oracleNumber(l)
		b, okB := oracleNumber(r)
		return okA && okB && a == b
	}
	return false
}

func oracleKind(v any) string {
	switch v.(type) {
	case nil, oracleMissing:
		return "nothing"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case string:
		return "text"
	case bool:
		return "flag"
	default:
		return "number"
	}
}

// oracleOrder compares two values. oracleOrder returns -1, 0 or 1, or 2 if the values cannot be
// compared.
func oracleOrder(l, r any) int {
	sign := func(less, equal bool) int {
		switch {
		case less:
			return -1
		case equal:
			return 0
		default:
			return 1
		}
	}
	dateL, okL := oracleDate(l)
	dateR, okR := oracleDate(r)
	if okL && okR {
		return sign(dateL[0] < dateR[0] || dateL[0] == dateR[0] && dateL[1] < dateR[1], dateL == dateR)
	}
	size := func(v any) (float64, bool) {
		switch v := v.(type) {
		case nil, oracleMissing:
			return 0, true
		case []any:
			return float64(len(v)), true
		}
		return oracleNumber(v)
	}
	a, okA := size(l)
	b, okB := size(r)
	if okA && okB {
		return sign(a < b, a == b)
	}
	s, textL := l.(string)
	t, textR := r.(string)
	if textL && textR {
		return sign(s < t, s == t)
	}
	return 2
}

// oracleCall applies the functions that random expressions can contain.
func oracleCall(name string, v []any, now time.Time) any {
	number := func(i int) float64 {
		n, ok := oracleNumber(v[i])
		if !ok {
			return math.NaN()
		}
		return n
	}
	switch name {
	case "ADD", "SUB", "MUL", "DIV":
		a, b := oracleFinite(number(0)), oracleFinite(number(1))
		return oracleCompute(map[string]string{"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/"}[name], a, b)
	case "ROUND":
		n := math.Abs(number(0))
		whole := math.Floor(n)
		if n-whole >= 0.5 {
			whole++
		}
		return oracleFinite(math.Copysign(whole, number(0)))
	case "ABS":
		return oracleFinite(math.Max(number(0), -number(0)))
	case "MIN", "MAX":
		a, b := number(0), number(1)
		switch {
		case a != a || b != b:
			return nil
		case (a < b) == (name == "MIN"):
			return oracleFinite(a)
		default:
			return oracleFinite(b)
		}
	case "UPPER":
		return strings.ToUpper(oracleText(v[0]))
	case "TRIM":
		return strings.TrimFunc(oracleText(v[0]), func(r rune) bool { return strings.ContainsRune(" \t\n\r\v\f\u0085\u00a0", r) })
	case "REPLACE":
		if oracleText(v[1]) == "" {
			return oracleText(v[0])
		}
		return strings.Join(strings.Split(oracleText(v[0]), oracleText(v[1])), oracleText(v[2]))
	case "TO_STRING":
		return oracleText(v[0])
	case "TO_NUMBER":
		return oracleFinite(number(0))
	case "IS_NUMBER":
		_, ok := oracleNumber(v[0])
		return ok && oracleKind(v[0]) != "flag"
	case "IS_STRING":
		return oracleKind(v[0]) == "text"
	case "IS_ARRAY":
		return oracleKind(v[0]) == "array"
	}
	return oracleCallCollection(name, v, now)
}

func oracleCallCollection(name string, v []any, now time.Time) any {
	items, _ := v[0].([]any)
	object, _ := v[0].(map[string]any)
	switch name {
	case "LENGTH":
		if s, ok := v[0].(string); ok {
			return float64(utf8.RuneCountInString(s))
		}
		return float64(len(items))
	case "JOIN":
		var parts []string
		for _, item := range items {
			parts = append(parts, oracleText(item))
		}
		return strings.Join(parts, oracleText(v[1]))
	case "SPLIT":
		parts := []any{}
		rest := oracleText(v[0])
		for separator := oracleText(v[1]); ; {
			before, after, found := strings.Cut(rest, separator)
			if separator == "" {
				_, size := utf8.DecodeRuneInString(rest)
				before, after, found = rest[:size], rest[size:], len(rest) > size
				if size == 0 {
					return parts
				}
			}
			parts = append(parts, before)
			if !found {
				return parts
			}
			rest = after
		}
	case "OBJECT_KEYS", "OBJECT_VALUES":
		list := []any{}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			list = append(list, map[string]any{"OBJECT_KEYS": key, "OBJECT_VALUES": object[key]}[name])
		}
		return list
	case "OBJECT_MERGE":
		merged := map[string]any{}
		for _, x := range v {
			m, _ := x.(map[string]any)
			for key, value := range m {
				merged[key] = value
			}
		}
		return merged
	case "ARRAY_FIND":
		for _, item := range items {
			if m, ok := item.(map[string]any); ok {
				if value, ok := m[oracleText(v[1])]; ok && oracleEqual(value, v[2]) {
					return item
				}
			}
		}
		return nil
	}
	panic(fmt.Sprintf("oracle: function %s", name))
}
