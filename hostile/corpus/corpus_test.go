package corpus_test

import (
	"fmt"
	"path"
	"regexp"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/hostile/corpus"
)

func all(t *testing.T) []corpus.Case {
	t.Helper()
	cases, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestAllIsLargeEnough(t *testing.T) {
	languages := map[string]int{}
	for _, c := range all(t) {
		languages[c.Language()]++
	}
	for language, least := range map[string]int{"js": 150, "py": 60, "wasm": 100, "app": 30} {
		if languages[language] < least {
			t.Errorf("%d cases of %s; want at least %d", languages[language], language, least)
		}
	}
}

var constant = regexp.MustCompile(`(?m)^(//|#) .*$|\b[0-9][0-9a-z_.]*|\s+`)

// The constant enough is the largest size of a hand-written case. Larger ones are generated and
// differ in their pattern.
const enough = 64 << 10

// TestNoTwoDifferInAConstant: cases that differ only in a number are the same case.
func TestNoTwoDifferInAConstant(t *testing.T) {
	seen, mechanisms := map[string]string{}, map[string]string{}
	for _, c := range all(t) {
		content := string(c.Input)
		for _, f := range c.Files {
			content += f.Path + f.Link + string(f.Data)
		}
		if path.Ext(c.Tool) != ".wasm" && len(content) < enough {
			content = constant.ReplaceAllString(content, "")
		}
		if c.Input != nil {
			content = c.Mechanism // these cases differ only in their inputs, which are constants
		}
		if other := seen[content]; other != "" {
			t.Errorf("%s and %s differ only in constants", other, c.Name)
		}
		if other := mechanisms[c.Mechanism]; other != "" {
			t.Errorf("%s and %s name the same mechanism", other, c.Name)
		}
		seen[content], mechanisms[c.Mechanism] = c.Name, c.Name
	}
}

// TestNoCaseExpectsABug: no case expects an internal fault, which is always a bug of the host.
func TestNoCaseExpectsABug(t *testing.T) {
	for _, c := range all(t) {
		for _, code := range c.Want.Codes {
			if code == abi.Internal || code == abi.Unavailable {
				t.Errorf("%s expects %s", c.Name, code)
			}
		}
	}
}

func TestWantAllows(t *testing.T) {
	limits := corpus.Want{Codes: []abi.Code{abi.Timeout, abi.MemoryLimit}}
	either := corpus.Want{Codes: []abi.Code{abi.ToolError}, OrOutput: true, Output: []byte(`{"a":1}`)}
	for _, tt := range []struct {
		want   corpus.Want
		word   string
		output string
		allows bool
	}{
		{limits, "timeout", "", true},
		{limits, "memory_limit", "", true},
		{limits, "internal", "", false},
		{limits, "ok", "1", false},
		{corpus.Want{}, "ok", "1", true},
		{corpus.Want{}, "timeout", "", false},
		{either, "ok", `{ "a": 1.0 }`, true},
		{either, "ok", `{"a":2}`, false},
		{either, "tool_error", "", true},
	} {
		if got := tt.want.Allows(tt.word, []byte(tt.output)); got != tt.allows {
			t.Errorf("%q allows %s %s = %v", tt.want, tt.word, tt.output, got)
		}
	}
}

func ExampleAll() {
	cases, err := corpus.All()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range cases {
		if c.Name == "js/stack/getter" {
			fmt.Println(c.Mechanism, "Want:", c.Want)
			fmt.Print(string(c.Files[0].Data))
		}
	}
	// Output:
	// A getter that reads itself. Want: stack_limit
	// // A getter that reads itself.
	// // expect: stack_limit
	// const o = { get a() { return this.a; } };
	// return o.a;
}
