package abl

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// A search must find the same matches as package regexp of Go.
func TestSearch(t *testing.T) {
	patterns := []string{
		`a`, `a*`, `a*?`, `\b`, `\B`, `\bab?`, `^a`, `(?m)^a`, `(?m)a$`, `a$`, `\Aa|b`, `(a)|(b)`, `(?i)A|é`, `a.*b|a`, `(?s)a.*b|a`,
		`\Qa`, `(?:a|ab)(c|bcd)?`, `(?U)a+b*`, `[^a]`, `$`, `^`, `(?m)^$`, `()`, `é\b`, ``, `(?i)a`, `x*`, `\n`, `a|`, `|a`,
	}
	letters := []string{"a", "b", "c", "é", "\n", " ", "A", "d"}
	random := rand.New(rand.NewPCG(1, 2))
	for _, source := range patterns {
		want := regexp.MustCompile(source)
		for range 300 {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString(letters[random.IntN(len(letters))])
			}
			p, err := compilePattern(source)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]int
			s := newSearch(newEvaluator(nil, Options{}), p, b.String())
			for {
				match, err := s.next()
				if err != nil {
					t.Fatal(err)
				}
				if match == nil {
					break
				}
				got = append(got, match)
			}
			if all := want.FindAllStringSubmatchIndex(b.String(), -1); !reflect.DeepEqual(got, all) {
				t.Fatalf("%q in %q: %v; want %v", source, b.String(), got, all)
			}
		}
	}
}

// A replacement must charge the evaluation for every character that its searches read.
func TestExpensiveReplacement(t *testing.T) {
	for _, source := range []string{`REGEX_REPLACE(s, "a.*b|a", "")`, `REGEX_REPLACE(s, "(a|b|c)*d|", "")`} {
		x, err := ParseExpr(source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Eval(Variables(map[string]any{"s": strings.Repeat("a", 10_000)}), Options{}); !errors.Is(err, ErrCost) {
			t.Errorf("%s of 10,000 characters = %v; want %v", source, err, ErrCost)
		}
	}
	x, err := ParseExpr(`REGEX_REPLACE(s, "\\s+", " ")`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Eval(Variables(map[string]any{"s": strings.Repeat("a  ", 20_000)}), Options{}); err != nil || got.Value != strings.Repeat("a ", 20_000) {
		t.Errorf("a cheap replacement in a long text = %v; want no error", err)
	}
}
