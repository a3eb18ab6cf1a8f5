package machine

import (
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
	"github.com/toolrun/toolrun/internal/spell"
)

var (
	testLine     = lazyregexp.New(`^test ("(?:[^"\\]|\\.)*")$`)
	givenLine    = lazyregexp.New(`^(given|expect)(?:\s|\{|$)`)
	assumingLine = lazyregexp.New(`^assuming\s+(` + nameText + `)\s*(?:\{|$)`)
	testWord     = lazyregexp.New(`^[A-Za-z_]`)
)

// endsTestPart reports whether a part of a test ends before a line. A part of a test is an object.
// A line that begins with a word cannot continue an object.
func endsTestPart(l *line) bool { return boundary(l) || testWord().MatchString(l.text) }

// testReader reads the tests of a machine.
type testReader struct{ *source }

// tests reads the section "verifies".
func (r testReader) tests() {
	for l := r.peek(); l != nil && section(l) == ""; l = r.peek() {
		text, comment := words(l)
		m := testLine().FindStringSubmatch(text)
		switch {
		case m != nil:
			name, _ := Script{Text: m[1]}.Literal()
			t := Test{Position: r.at(l)}
			t.Name, _ = name.(string)
			r.take(l, 2, withComment(text, comment))
			if len(r.doc.Tests) == MaxItems {
				r.errorf(t.Position, problem.OverLimit, "", "there are more than %d tests", MaxItems)
				r.next = len(r.lines)
				return
			}
			r.doc.Tests = append(r.doc.Tests, t)
		case len(r.doc.Tests) == 0:
			r.errorf(r.at(l), problem.Syntax, `write: test "what is tested"`, "the line %s does not begin a test", problem.Quote(text))
			r.take(l, 2, "")
		default:
			r.testPart(l, text, &r.doc.Tests[len(r.doc.Tests)-1])
		}
	}
}

// testPart reads a part of a test, such as "given {...}".
func (r testReader) testPart(l *line, text string, t *Test) {
	if m := givenLine().FindStringSubmatch(l.text); m != nil {
		part := &t.Given
		if m[1] == "expect" {
			part = &t.Expect
		}
		if part.Text != "" {
			r.errorf(r.at(l), problem.DuplicateName, "", "the test has two parts `%s`", m[1])
		}
		*part = r.testValue(l, m[1], m[1])
		return
	}
	if m := assumingLine().FindStringSubmatch(l.text); m != nil {
		step := r.name(l, m[1], len("assuming"))
		a := Setting{step, r.testValue(l, "assuming "+m[1], m[1])}
		if len(t.Assuming) == MaxItems {
			r.errorf(step.Position, problem.OverLimit, "", "the test assumes more than %d results", MaxItems)
			return
		}
		t.Assuming = append(t.Assuming, a)
		return
	}
	hint := "a test consists of the parts `given {...}`, `assuming STEP {...}` and `expect {...}`"
	first, _, _ := strings.Cut(text, " ")
	words := []string{"given", "assuming", "expect", "test"}
	switch near := spell.Name(first, words); {
	case first == "test" || near == "test":
		hint = `to begin a test, write: test "what is tested"`
	case near != "" && !contains(words, first):
		hint = "did you mean " + near + "?"
	}
	r.errorf(r.at(l), problem.Syntax, hint, "the line %s is not a part of a test", problem.Quote(text))
	r.take(l, 3, "")
}

// testValue reads the expression in a part of a test. The argument "last" is the word that precedes
// the expression.
func (r testReader) testValue(l *line, prefix, last string) Script {
	from := len("assuming ")
	if prefix == last {
		from = 0
	}
	at := strings.Index(l.text[from:], last) + from + len(last)
	rest := strings.TrimLeft(l.text[at:], " \t")
	start := l.start + l.indent + len(l.text) - len(rest)
	r.take(l, 3, strings.TrimRight(prefix+" "+rest, " "))
	s := r.script(start, true, 3, 4, endsTestPart)
	if !strings.HasPrefix(s.Text, "{") {
		r.errorf(r.at(l), problem.BadValue, "write "+prefix+" {name: value}", "expected an object after `%s`", prefix)
	}
	return s
}
