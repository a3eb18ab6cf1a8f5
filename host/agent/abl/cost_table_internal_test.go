package abl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// nominalStep is the assumed duration of an evaluation step. The documentation of Options.Cost uses
// the same duration.
const nominalStep = 100 * time.Nanosecond

// costCase is an expression whose input is the largest or slowest possible input.
type costCase struct {
	source string
	vars   map[string]any
}

// costCases returns expressions for operators and functions. Each operator and function whose run
// time grows with the size of its input has an expression.
func costCases() []costCase {
	text := func(part string, bytes int) string { return strings.Repeat(part, bytes/len(part)) }
	list := func(n int, item any) []any {
		items := make([]any, n)
		for i := range items {
			items[i] = item
		}
		return items
	}
	object := make(map[string]any, 50_000)
	var rows []any
	for i := range 50_000 {
		object[fmt.Sprintf("key%05d", i)] = float64(i)
		rows = append(rows, map[string]any{"id": fmt.Sprint("row", i)})
	}
	vars := map[string]any{
		"long": text("a", MaxTextChars), "wide": text("\U0001F600", 4*MaxTextChars), "words": text("a b ", MaxTextChars), "huge": text("a b.", 1<<18),
		"digits": text("1", MaxTextChars), "groups": text("1 ", MaxTextChars), "phones": text("555-555-555 ", MaxTextChars), "cards": text("4111111111111111 ", MaxTextChars),
		"mails": text("a@b.c.", MaxTextChars), "mail": text("a@b.cc ", MaxTextChars), "dots": text(".", MaxTextChars), "ends": text("a. ", MaxTextChars), "urls": text("www.", MaxTextChars), "upper": text("Éa", MaxTextChars),
		"numbers": list(100_000, 1.5), "texts": list(50_000, "text"), "dates": list(20_000, "2026-11-23T05:00:00.000000001+01:00"),
		"nested": list(2_000, list(20, map[string]any{"a": 1.0, "b": "x"})), "object": object, "rows": rows,
		"spoken": text("ab ", 1024), "stored": text("ba ", 1024), "many": text("1", 399), "short": "abcde", "line": text("a", 1000),
	}
	var cases []costCase
	for source := range strings.Lines(costSources) {
		if source = strings.TrimSpace(source); source != "" {
			cases = append(cases, costCase{source, vars})
		}
	}
	return cases
}

// costSources contains one expression per line.
const costSources = `
UPPER(upper)
LOWER(wide)
TRIM(huge)
SUBSTRING(wide, 1, 99999)
SUBSTRING(huge, 5, 10)
REPLACE(long, "a", "bb")
REPLACE(words, " ", "")
SPLIT(words, " ")
SPLIT(wide, "")
SPLIT(huge, "")
JOIN(numbers, ", ")
JOIN(texts, "")
PAD_START("", 100000, "é")
PAD_END("a", 100000)
REPEAT("ab", 50000)
MASK(wide, "last4")
MASK(huge, "4*4")
REGEX_REPLACE(words, "a", "b")
REGEX_REPLACE(words, "\\s+", "")
REGEX_REPLACE(short, "(a|b)(c|d)*", "$1$2")
REGEX_REPLACE(long, "x", "")
REGEX_REPLACE(long, "(a)(a)(a)(a)(a)(a)(a)(a)", "$1")
REGEX_REPLACE(groups, "(1 ?){1,20}x|y", "")
REGEX_EXTRACT(long, "(a|a)*b")
REGEX_EXTRACT(groups, "(?:1[ -]?){12,19}x")
REGEX_EXTRACT(words, "(a b )+$")
REGEX_EXTRACT(wide, "\\pL+")
MATCHES_PATTERN(long, "(a?){30}b")
MATCHES_PATTERN(long, "[a-z]+[0-9]")
MATCHES_PATTERN(short, "(((a{1,10}){1,10}){1,5})")
NOT_MATCHES_PATTERN(digits, "(\\d|[0-9]|1)*x")
MATCHES_PATTERN(line, "(a?){30}b")
MATCHES_PATTERN(line, "(a|a)*b")
MATCHES_PATTERN(line, "(?i)[a-z0-9._-]+@[a-z0-9-]+[.][a-z]{2,}")
MATCHES_PATTERN(short, "^[a-z]+$")
REGEX_EXTRACT(line, "a+(b|$)")
MATCHES_PATTERN(short, REPEAT("a{999}", 140))
MATCHES_PATTERN(short, REPEAT("(a|b){99}", 100))
MATCHES_PATTERN(short, REPEAT("a{49}", 90))
MATCHES_PATTERN(short, REPEAT("[a-z]", 190))
MATCHES_PATTERN(short, REPEAT("\\pL", 300))
MATCHES_PATTERN(short, REPEAT("(?i)\\pL|", 100))
MATCHES_PATTERN(short, REPEAT("(", 900))
MATCHES_PATTERN(short, "(?i)" + REPEAT("[b-𞤀]", 9))
MATCHES_PATTERN(short, REPEAT("(?i:[b-\\x{1E900}])", 9))
MATCHES_PATTERN(short, REPEAT("[b-𞤀]", 9))
MATCHES_PATTERN(short, REPEAT("[^\\W\\d]", 120))
MATCHES_PATTERN(short, REPEAT("(?i)[a-z]", 100))
MATCHES_PATTERN(short, "(?i)" + REPEAT("[^k]", 240))
MATCHES_PATTERN(short, "(?i)" + REPEAT("[!-~]", 190))
MATCHES_PATTERN(short, REPEAT("[[:alpha:]]", 90))
MATCHES_PATTERN(short, REPEAT("(((", 10) + "a" + REPEAT("){2})+)*", 10))
MATCHES_PATTERN(short, REPEAT("a|", 499))
REGEX_REPLACE(line, "aa", "b")
words matches "(a|b| )*x"
long matches "^a+$"
MATCH_SCORE(spoken, stored)
MATCH_SCORE(spoken, stored, "email")
MATCH_SCORE(huge, huge)
MATCHES(spoken, stored, "name")
MATCH_RESULT(many, digits, "digits")
MATCH_RESULT(many, many, "phone")
FORMAT_DATE("2026-11-23T05:00:00.000000001+01:00", "YYYY-MM-DD HH:mm:ss", "Europe/Zurich")
FORMAT_DATE("2026-11-23", "YYYY-MM-DD HH:mm:ss", "No/Where")
FORMAT_DATE("2026-11-23", REPEAT("YYYY", 8000))
FORMAT_CURRENCY(many, "USD")
FORMAT_CURRENCY(1000000000000000000000000, "USD")
ORDINAL(many)
TO_NUMBER(many)
TO_STRING(numbers)
TO_STRING(nested)
TO_STRING(texts)
LENGTH(huge)
ARRAY_FIND(rows, "id", "none")
ARRAY_FIND_INDEX(rows, "none", 1)
OBJECT_KEYS(object)
OBJECT_VALUES(object)
OBJECT_MERGE(object, object)
CONTAINS_PII(digits)
REDACT_PII(digits)
REDACT_PII(groups)
REDACT_PII(phones)
REDACT_PII(cards)
REDACT_PII(mails)
REDACT_PII(mail)
REDACT_PII(huge)
CONTAINS_URL(urls)
CONTAINS_URL(huge)
CONTAINS_EMAIL(long)
CONTAINS_EMAIL(mails)
CONTAINS_CODE(huge)
WORD_COUNT(words)
WORD_COUNT(wide)
SENTENCE_COUNT(dots)
SENTENCE_COUNT(ends)
SENTENCE_COUNT(huge)
ADD(many, many)
ROUND(many, 2)
ABS(many)
MIN(many, many, many)
IS_NUMBER(many)
many * many
many IS_NUMBER
many < 5
huge contains "xyz"
huge contains "bb"
huge startsWith "abc"
"2026-11-23T05:00:00.000000000+02:00" IN dates
5 IN numbers
"x" IN texts
nested == nested
object == object
huge == huge
texts == texts
huge.length
huge + "x" == 1
UNIQUE_ID(64)
NOW()
FIRST_NON_EMPTY(huge, 1)
`

// measure returns the number of evaluation steps that a case costs, and the average time of an
// evaluation. The clock of a thread can advance in ticks of some milliseconds. Therefore, the
// evaluation is repeated until several ticks have passed.
func (c costCase) measure(t testing.TB, minimum time.Duration) (steps int, average time.Duration) {
	t.Helper()
	x, err := ParseExpr(c.source)
	if err != nil {
		t.Fatalf("%s: %v", c.source, err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	random, remaining := rand.New(rand.NewPCG(1, 2)), 0
	for times := 1; ; times *= 2 {
		start := clock()
		for range times {
			remaining = 1 << 40
			o := Options{Remaining: &remaining, Now: time.Unix(0, 0), Random: random}
			_, _ = x.Eval(Variables(c.vars), o) // a failed evaluation also costs steps
		}
		if used := clock() - start; used >= minimum {
			return 1<<40 - remaining, used / time.Duration(times)
		}
	}
}

// The number of evaluation steps that a function or an operator costs must be proportional to its
// run time. Otherwise, a turn could compute for minutes without exceeding its limit on evaluation
// steps.
func TestCostOfLargeInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	constant := []string{"IS_ARRAY", "IS_STRING", "SUB", "MUL", "DIV", "MAX", "COALESCE", "IF"}
	for _, name := range FunctionNames() {
		if !strings.Contains(costSources, name+"(") && !slices.Contains(constant, name) {
			t.Errorf("no case measures %s", name)
		}
	}
	for _, c := range costCases() {
		steps, average := c.measure(t, 8*time.Millisecond)
		limit := costFactor * nominalStep * time.Duration(steps)
		if average > limit { // other threads can slow down the first measurement
			steps, average = c.measure(t, 100*time.Millisecond)
		}
		if average > limit {
			t.Errorf("%s takes %v and %d steps, which is %v per step; want at most %v", c.source, average, steps, average/time.Duration(steps), costFactor*nominalStep)
		}
	}
}

// BenchmarkCost measures each function and operator with its largest input. BenchmarkCost reports
// the time per evaluation step.
func BenchmarkCost(b *testing.B) {
	for _, c := range costCases() {
		b.Run(c.source, func(b *testing.B) {
			steps, average := c.measure(b, 100*time.Millisecond)
			b.ReportMetric(float64(average.Nanoseconds())/float64(steps), "ns/step")
			b.ReportMetric(float64(steps), "steps")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// If Options.Interrupt returns an error, the evaluation must end.
func TestInterrupt(t *testing.T) {
	x, err := ParseExpr("numbers == numbers")
	if err != nil {
		t.Fatal(err)
	}
	items := make([]any, 100_000)
	stop, calls := errors.New("stop"), 0
	_, err = x.Eval(Variables(map[string]any{"numbers": items}), Options{Interrupt: func() error {
		if calls++; calls == 3 {
			return stop
		}
		return nil
	}})
	if err != stop || calls != 3 {
		t.Errorf("Eval = %v after %d calls; want %v after 3", err, calls, stop)
	}
}
