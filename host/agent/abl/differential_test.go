package abl_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/agent/abl"
)

var testNow = time.Date(2026, 11, 23, 10, 30, 0, 0, time.UTC)

// generator makes random expressions. One byte of the input determines each choice, so that fuzzing
// can change single choices. When no bytes are left, the generator always chooses the first option.
type generator struct{ choices []byte }

func (g *generator) pick(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0])
	g.choices = g.choices[1:]
	return c % n
}

func (g *generator) of(options ...string) string { return options[g.pick(len(options))] }

// expression returns a random expression whose brackets are nested at most "depth" levels deep.
func (g *generator) expression(depth int) string {
	if depth <= 0 {
		return g.leaf()
	}
	sub := func() string { return g.operand(depth - 1) }
	switch g.pick(13) {
	case 0:
		return g.leaf()
	case 1, 2:
		return sub() + g.of(" + ", " - ", " * ", " / ", " % ") + sub() + g.of("", " + "+g.leaf(), " * "+g.leaf())
	case 3, 4:
		return sub() + g.of(" == ", " != ", " < ", " <= ", " > ", " >= ") + sub()
	case 5:
		return sub() + g.of(" AND ", " OR ", " IMPLIES ") + sub() + g.of(" AND ", " OR ", " IMPLIES ") + sub()
	case 6:
		return g.of("NOT ", "!", "-", "!-", "NOT NOT ") + sub()
	case 7:
		return sub() + g.of(" IS SET", " IS NOT SET")
	case 8:
		return sub() + g.of(" IN ", " NOT IN ", " contains ", " startsWith ", " endsWith ") + sub()
	case 9:
		return sub() + g.of("[0]", "[1]", "["+g.leaf()+"]", ".length", ".k")
	case 10:
		return g.of("["+sub()+"]", "["+sub()+", "+sub()+"]", "{k: "+sub()+"}", "{k: "+sub()+", m: "+sub()+"}", sub()+" ? "+sub()+" : "+sub())
	default:
		return g.call(depth - 1)
	}
}

// operand returns an expression. Most expressions are in parentheses. Some expressions have no
// parentheses, so that the test covers the precedence of operators. A comparison always has
// parentheses. Without them, it could become a chain such as "a < b < c", which is not allowed.
func (g *generator) operand(depth int) string {
	e := g.expression(depth)
	bare := !strings.ContainsAny(e, "?<>=") && !strings.Contains(e, " I") && !strings.Contains(e, "s ") && !strings.Contains(e, "s(") &&
		!strings.Contains(e, "NOT") && !strings.Contains(e, "With ")
	if bare && g.pick(3) == 1 {
		return e
	}
	return "(" + e + ")"
}

func (g *generator) call(depth int) string {
	arg := func() string { return g.expression(depth) }
	one := []string{"ROUND", "ABS", "UPPER", "TRIM", "TO_STRING", "TO_NUMBER", "IS_NUMBER", "IS_STRING", "IS_ARRAY", "LENGTH", "OBJECT_KEYS", "OBJECT_VALUES"}
	two := []string{"ADD", "SUB", "MUL", "DIV", "MIN", "MAX", "JOIN", "SPLIT", "OBJECT_MERGE", "COALESCE", "FIRST_NON_EMPTY"}
	switch g.pick(4) {
	case 0:
		return g.of(one...) + "(" + arg() + ")"
	case 1, 2:
		return g.of(two...) + "(" + arg() + ", " + arg() + ")"
	default:
		return g.of("IF", "REPLACE", "ARRAY_FIND") + "(" + arg() + ", " + arg() + ", " + arg() + ")"
	}
}

func (g *generator) leaf() string {
	return g.of("1", "0", "2", "x", "missing", `"a"`, `"2"`, `""`, "true", "false", "null", "s", "n", "list", "obj", "obj.k", "user.name",
		"user.age", "0.1", "3.75", "1e300", `"10"`, `"false"`, `" 7 "`, `"2026-11-23"`, "day", "now", "[]", "{}", `"a b a"`, "list[1]", "deep.k.k",
		`"2026-11-23T10:30:00Z"`, `"-1.5e1"`, `"Zoë"`, "list.length", "flag", `"true"`, "objs", `"k"`, "1e-7", `"2026-02-30"`)
}

func testVariables() map[string]any {
	return map[string]any{
		"x": 5.0, "s": "hello", "n": "42", "list": []any{1.0, "a", nil, "2"}, "obj": map[string]any{"k": "v", "1": true, "m": 3.0},
		"user.name": "Ann", "user": map[string]any{"age": 30.0, "name": "hidden"}, "day": "2026-11-24", "flag": false,
		"deep": map[string]any{"k": map[string]any{"k": []any{}}}, "objs": []any{map[string]any{"k": 1.0}, map[string]any{"k": "a"}},
	}
}

// compareWithOracle evaluates an expression twice: with the package and with the oracle.
// compareWithOracle compares the results.
func compareWithOracle(t *testing.T, source string) {
	t.Helper()
	e, err := abl.ParseExpr(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	got, err := e.Eval(abl.Variables(testVariables()), abl.Options{Now: testNow})
	if errors.Is(err, abl.ErrCost) {
		return
	}
	want, ok := oracleRun(oracleCompile(source), testVariables(), testNow)
	if _, undefined := want.(oracleMissing); undefined {
		want = abl.Undefined{}
	}
	if (err == nil) != ok || ok && !reflect.DeepEqual(got.Value, want) {
		t.Fatalf("%s = %#v, %v; the oracle has %#v", source, got.Value, err, want)
	}
}

// TestOracle evaluates random expressions with the package and with the oracle. The results must be
// equal.
func TestOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]int{}
	for range 30_000 {
		choices := make([]byte, 60)
		for i := range choices {
			choices[i] = byte(random.UintN(256))
		}
		g := generator{choices}
		source := g.expression(1 + g.pick(4))
		compareWithOracle(t, source)
		e, _ := abl.ParseExpr(source)
		r, _ := e.Eval(abl.Variables(testVariables()), abl.Options{Now: testNow})
		kinds[abl.TypeOf(r.Value)]++
	}
	for _, kind := range []string{"undefined", "null", "boolean", "number", "string", "array", "object"} {
		if kinds[kind] < 300 {
			t.Errorf("only %d expressions have the type %s; want more", kinds[kind], kind)
		}
	}
}

// FuzzOracle evaluates expressions with the package and with the oracle. The fuzz input determines
// the expressions, and the results must be equal.
func FuzzOracle(f *testing.F) {
	for i := range 64 {
		f.Add(fmt.Appendf(nil, "%c%c%c%c seed %d", i, 3*i, 7*i, 11*i, i))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		g := generator{choices[:min(len(choices), 200)]}
		compareWithOracle(t, g.expression(5))
	})
}
