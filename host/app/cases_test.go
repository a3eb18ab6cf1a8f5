package app_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
)

var casedTool = app.Tool{Tool: declare.Tool{Name: "count", Source: "tools/count/main.js", Dir: "tools/count"}}

// TestCases checks the defaults of the keys in test cases.
func TestCases(t *testing.T) {
	const file = "tests:\n  - name: a\n    expect: {n: [1, 2]}\n  - name: b\n    user: null\n    session: s\n    before: {visits: {n: 1}}\n    fails: no_user\n"
	cases, problems := app.LoadCases(fstest.MapFS{"tools/count/count.tests.yaml": {Data: []byte(file)}}, casedTool)
	if len(problems) > 0 || len(cases) != 2 {
		t.Fatalf("LoadCases = %v, %v; want two cases", cases, problems)
	}
	a, b := cases[0], cases[1]
	if a.User != "user_test" || a.Session != "session_test" || string(a.Given) != "{}" || a.Line != 2 || string(a.Expect.JSON) != `{"n":[1,2]}` {
		t.Errorf("the first case is %+v", a)
	}
	if line, column := a.Expect.Position("/n/1"); line != 3 || column != 21 {
		t.Errorf("the position of the second number is %d:%d; want 3:21", line, column)
	}
	if b.User != "" || b.Session != "s" || b.Fails != "no_user" || len(b.Before) != 1 || b.Before[0].Store != "visits" || string(b.Before[0].JSON) != `{"n":1}` {
		t.Errorf("the second case is %+v", b)
	}
	if cases, problems := app.LoadCases(fstest.MapFS{}, casedTool); cases != nil || problems != nil {
		t.Errorf("LoadCases without a file = %v, %v; want nothing", cases, problems)
	}
	many := "tests:\n" + strings.Repeat("  - {name: a, expect: 1}\n", 501)
	if _, problems := app.LoadCases(fstest.MapFS{casedTool.CasesFile(): {Data: []byte(many)}}, casedTool); problems.Err() == nil || !strings.Contains(problems.Error(), "more than 500 tests") {
		t.Errorf("LoadCases of 501 cases = %v; want a problem", problems)
	}
}

// FuzzCases reads random files. Each file must have problems, or contain only cases that can be
// executed.
func FuzzCases(f *testing.F) {
	for _, seed := range []string{"tests: []", "tests:\n  - name: a\n    mocks: {recall: {kb: [[x]]}}\n    remembered: [{content: 1}]\n    after: {a: null}\n", "tests: [{name: x, user: 1, expect: 0x10}]", "- a", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cases, problems := app.LoadCases(fstest.MapFS{casedTool.CasesFile(): {Data: []byte(text)}}, casedTool)
		if problems.Err() != nil {
			return
		}
		for _, c := range cases {
			if c.Name == "" && !strings.Contains(text, `""`) && !strings.Contains(text, `''`) || len(c.Given) == 0 {
				t.Errorf("LoadCases of %q contains the case %+v", text, c)
			}
			if c.Expect != nil {
				c.Expect.Position("/a/0")
			}
		}
	})
}
