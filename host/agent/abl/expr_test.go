package abl_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/agent/abl"
)

func testOptions() abl.Options {
	return abl.Options{Now: testNow, Random: rand.New(rand.NewPCG(1, 1))}
}

// TestExpressions evaluates the expressions in testdata/expressions.txt.
func TestExpressions(t *testing.T) {
	table, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, line := range strings.Split(string(table), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, " | ")
		if len(columns) != 4 {
			t.Errorf("line %d has %d columns: %s", i+1, len(columns), line)
			continue
		}
		n++
		checkExpression(t, i+1, columns[0], columns[1], columns[2], columns[3])
	}
	if n < 500 {
		t.Errorf("the table has %d expressions; want 500", n)
	}
}

func checkExpression(t *testing.T, line int, source, vars, want, wantType string) {
	t.Helper()
	var variables map[string]any
	if err := json.Unmarshal([]byte(vars), &variables); err != nil {
		t.Errorf("line %d: %v", line, err)
		return
	}
	e, err := abl.ParseExpr(source)
	if err != nil {
		t.Errorf("line %d: %s: %v", line, source, err)
		return
	}
	got, err := e.Eval(abl.Variables(variables), testOptions())
	if message, fails := strings.CutPrefix(want, "error: "); fails {
		if err == nil || err.Error() != message {
			t.Errorf("line %d: %s: the error is %v; want %s", line, source, err, message)
		}
		return
	}
	var value any
	if err := json.Unmarshal([]byte(want), &value); err != nil {
		t.Errorf("line %d: %v", line, err)
		return
	}
	if err != nil || !reflect.DeepEqual(abl.Plain(got.Value), value) || abl.TypeOf(got.Value) != wantType {
		t.Errorf("line %d: %s = %#v (%s), %v; want %s (%s)", line, source, got.Value, abl.TypeOf(got.Value), err, want, wantType)
	}
}

// TestTruth evaluates conditions of constraints. In these conditions, a comparison with an operand
// that is not set is unknown.
func TestTruth(t *testing.T) {
	vars := abl.Variables{"amount": 50.0, "limit": 100.0, "yes": true, "no": false, "nothing": nil, "list": []any{"CU"}}
	for source, want := range map[string]abl.Truth{
		"amount <= limit":               abl.True,
		"amount > limit":                abl.False,
		"amount <= missing":             abl.Unknown,
		"missing <= missing2":           abl.Unknown,
		"nothing < 3":                   abl.Unknown,
		"missing == 1":                  abl.Unknown,
		"missing != 1":                  abl.Unknown,
		"missing == missing2":           abl.Unknown,
		"missing == null":               abl.True,
		"nothing == null":               abl.True,
		"amount == null":                abl.False,
		"missing != null":               abl.False,
		"null != amount":                abl.True,
		"missing IN list":               abl.Unknown,
		"missing NOT IN list":           abl.Unknown,
		`"CU" IN list`:                  abl.True,
		`"CU" IN missing`:               abl.Unknown,
		`missing contains "a"`:          abl.Unknown,
		"missing + amount <= limit":     abl.Unknown,
		"amount / 0 <= limit":           abl.Unknown,
		"missing IS SET":                abl.False,
		"missing IS NOT SET":            abl.True,
		"nothing IS SET":                abl.False,
		"yes":                           abl.True,
		"no":                            abl.False,
		"missing":                       abl.Unknown,
		"nothing":                       abl.Unknown,
		"NOT yes":                       abl.False,
		"NOT missing":                   abl.Unknown,
		"!missing":                      abl.Unknown,
		"no AND missing":                abl.False,
		"missing AND no":                abl.False,
		"yes AND missing":               abl.Unknown,
		"missing AND missing2":          abl.Unknown,
		"yes OR missing":                abl.True,
		"missing OR yes":                abl.True,
		"no OR missing":                 abl.Unknown,
		"missing OR no":                 abl.Unknown,
		"missing IMPLIES yes":           abl.True,
		"missing IMPLIES no":            abl.Unknown,
		"no IMPLIES missing":            abl.True,
		"yes IMPLIES missing":           abl.Unknown,
		"NOT (missing > 3)":             abl.Unknown,
		"missing ? yes : yes":           abl.Unknown,
		"IF(missing, yes, yes)":         abl.Unknown,
		"COALESCE(missing, 0) < 3":      abl.True,
		"(missing > 3) OR (amount > 3)": abl.True,
	} {
		e, err := abl.ParseExpr(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, _, err := e.Truth(vars, testOptions()); got != want || err != nil {
			t.Errorf("%s is %v, %v; want %v", source, got, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("(", 33) + "1" + strings.Repeat(")", 33)
	for _, tt := range []struct{ source, want string }{
		{"", "1:1: the expression is incomplete"},
		{"1 +", "1:4: the expression is incomplete"},
		{"a = 1", "1:3: unexpected \"=\"\n  hint: compare with =="},
		{"a === 1", "1:3: unexpected \"===\"\n  hint: write =="},
		{`x "IS SET"`, "1:3: unexpected the text \"IS SET\"\n  hint: IS SET is written without quotes: name IS SET"},
		{`x == "IS SET"`, "1:6: the condition compares with the text \"IS SET\" instead of using the operator IS SET or IS NOT SET\n  hint: IS SET is written without quotes: name IS SET"},
		{"x IS 5", "1:6: expected \"SET\" instead of \"5\"\n  hint: write IS SET or IS NOT SET; compare values with =="},
		{"1 < 2 < 3", "1:7: a comparison cannot follow a comparison\n  hint: combine comparisons with AND, or use parentheses"},
		{"a IS SET IS SET", "1:10: a comparison cannot follow a comparison\n  hint: combine comparisons with AND, or use parentheses"},
		{"a == NOT b", "1:6: unexpected \"NOT\"\n  hint: use parentheses: (NOT x)"},
		{"a NOT b", "1:7: expected \"IN\" instead of \"b\"\n  hint: write NOT before the whole comparison, or x NOT IN [...]"},
		{"1h30m", "1:1: the text \"1h30m\" is not a number\n  hint: a name starts with a letter; a duration is quoted text such as \"90d\""},
		{`"abc`, "1:1: the quoted text is not closed\n  hint: close the text with \""},
		{"“abc”", "1:1: the quote \"“\" is not a straight quote\n  hint: write straight quotes: \"text\""},
		{"(1", "1:3: expected \")\" instead of the end\n  hint: close the parenthesis with )"},
		{"[1 2]", "1:4: expected \",\" instead of \"2\"\n  hint: separate items with commas and close the list with ]"},
		{"{a: 1, a: 2}", "1:8: the key \"a\" occurs twice\n  hint: remove one of the two keys"},
		{"UPER(1)", "1:1: unknown function UPER\n  hint: did you mean UPPER?"},
		{`CONTAINS(a, "b")`, "1:1: unknown function CONTAINS\n  hint: it is an operator: a contains b"},
		{"ADD(1)", "1:1: the function ADD takes 2 arguments, not 1\n  hint: write ADD(a, b)"},
		{"ROUND()", "1:1: the function ROUND takes 1 to 2 arguments, not 0\n  hint: write ROUND(n, decimals?)"},
		{"COALESCE()", "1:1: the function COALESCE takes at least 1 argument, not 0\n  hint: write COALESCE(a, ...)"},
		{`x matches "["`, "1:11: \"[\" is not a valid pattern: error parsing regexp: missing closing ]: `[`\n  hint: write the pattern in the syntax of RE2"},
		{"a adn b", "1:3: unexpected \"adn\"\n  hint: did you mean AND?"},
		{"a -> b", "1:3: unexpected \"->\"\n  hint: an arrow is only allowed in `STORE: value -> path`"},
		{"1e999", "1:1: the number \"1e999\" is too large"},
		{"a ; b", "1:3: unexpected character \";\""},
		{"zoë . ", "1:7: unexpected the end"},
		{deep, "1:33: the expression is nested deeper than 32 levels\n  hint: divide the expression, and compute its parts with SET"},
		{strings.Repeat("!", 40) + "a", "1:32: the expression is nested deeper than 32 levels\n  hint: divide the expression, and compute its parts with SET"},
		{strings.Repeat("1+", 9000) + "1", "1:1: the expression is longer than 16384 bytes\n  hint: divide the expression, and compute its parts with SET"},
	} {
		_, err := abl.ParseExpr(tt.source)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.40s: %v\nwant: %s", tt.source, err, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	huge := strings.Repeat("a", 100_000)
	var deep any = 1.0
	for range 1000 {
		deep = []any{deep}
	}
	vars := abl.Variables{"huge": huge, "deep": deep, "deep2": deep}
	for source, want := range map[string]error{
		"huge + huge":                           abl.ErrTooLong,
		`REPLACE(huge, "a", huge)`:              abl.ErrTooLong,
		`JOIN(SPLIT(huge, ""), huge)`:           abl.ErrTooLong,
		`REGEX_REPLACE(huge, "a", huge)`:        abl.ErrTooLong,
		`PAD_START("a", 1000000000000)`:         abl.ErrTooLong,
		`MASK(huge, "last4", huge)`:             abl.ErrTooLong,
		"[huge, huge, huge, huge, huge] + \"\"": abl.ErrTooLong,
		"deep == deep2":                         abl.ErrTooDeep,
		"TO_STRING(deep)":                       abl.ErrTooDeep,
		"UNIQUE_ID()":                           abl.ErrNoRandom,
		`huge matches "(a{1,30}){1,30}b"`:       abl.ErrCost,
	} {
		e, err := abl.ParseExpr(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if r, err := e.Eval(vars, abl.Options{Now: testNow}); !errors.Is(err, want) {
			t.Errorf("%s = %T, %v; want %v", source, r.Value, err, want)
		}
	}
	e, err := abl.ParseExpr(strings.Repeat("1+", 8000) + "1")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := e.Eval(nil, abl.Options{}); r.Value != 8001.0 || err != nil {
		t.Errorf("a long sum = %v, %v", r.Value, err)
	}
	if _, err := e.Eval(nil, abl.Options{Cost: 100}); !errors.Is(err, abl.ErrCost) {
		t.Errorf("with a maximum of 100 steps, the error is %v; want ErrCost", err)
	}
}

func TestWarnings(t *testing.T) {
	for source, want := range map[string]string{
		"missing * 2":             "1:9: an operand of the operator * is not set, not a number; the result is null",
		"1 / 0":                   "1:3: the result of the operator / is not finite and was replaced by null",
		"missing < 1":             "1:9: an operand of the operator < is not set and counts as 0",
		`"a" < 1`:                 "1:5: an operand of the operator < is a text, which cannot be compared with the other operand; the result is false",
		`1 IN "abc"`:              "1:3: the right operand of IN is a text, not a list",
		`x matches p`:             "1:3: a pattern is not valid: missing closing ]",
		`ROUND("secret")`:         "1:1: argument 1 of the function ROUND is a text, not a number",
		`FORMAT_DATE("x", "DD")`:  "1:1: argument 1 of the function FORMAT_DATE is not a date",
		`[1] startsWith "secret"`: "1:5: the operator startsWith compares texts, not an array; the result is false",
	} {
		e, err := abl.ParseExpr(source)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Eval(abl.Variables{"x": "x", "p": "["}, testOptions())
		if err != nil || len(r.Warnings) != 1 || r.Warnings[0].Position.String()+": "+r.Warnings[0].Message != want {
			t.Errorf("%s: %v, %v; want %s", source, r.Warnings, err, want)
		}
	}
}

func TestReferences(t *testing.T) {
	e, err := abl.ParseExpr(`COALESCE(user.name, names[i].first) + UPPER(x.y) ? {a: b} : [c, now]`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range e.References() {
		got = append(got, r.Position.String()+" "+r.String())
	}
	if want := "1:10 user.name,1:21 names,1:27 i,1:45 x.y,1:56 b,1:62 c,1:65 now"; strings.Join(got, ",") != want {
		t.Errorf("the references are %s; want %s", strings.Join(got, ","), want)
	}
}

// FuzzParseExpr checks that parsing and evaluating never panic. FuzzParseExpr also prints each
// expression and parses the result again. The result must be equal to the original expression.
func FuzzParseExpr(f *testing.F) {
	for _, seed := range []string{"a + b[0].c IS SET", `{a: "x", 'b': [1, -2]} == null`, "NOT x IN [1,2] AND !y IMPLIES z", `abl.upper("é") matches "\d"`, "a ? b : c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		e, err := abl.ParseExpr(source)
		if err != nil {
			return
		}
		r, err := e.Eval(abl.Variables(testVariables()), testOptions())
		again, parseErr := abl.ParseExpr(e.String())
		if parseErr != nil {
			t.Fatalf("%q parses, but %q does not: %v", source, e.String(), parseErr)
		}
		s, err2 := again.Eval(abl.Variables(testVariables()), testOptions())
		if (err == nil) != (err2 == nil) || !reflect.DeepEqual(r.Value, s.Value) {
			t.Fatalf("%q = %#v, %v and then %#v, %v", source, r, err, s, err2)
		}
	})
}
