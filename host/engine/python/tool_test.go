package python_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/python"
)

// The type tool contains a tool and the expected result of a single run.
type tool struct {
	name   string
	code   string
	path   string // "tool.py" if empty
	entry  string
	params []string
	files  fstest.MapFS
	input  string // {} if empty
	env    string // {} if empty
	limits engine.Limits

	want    string // the output
	fault   abi.Code
	message string // a substring of the text that consists of the fault's message and hint
	exact   bool   // message is the message and the hint, joined by a line feed.
	place   string // "file:line:column" of the fault
	logs    []string
	warning string // a substring of a warning
	stack   string
}

// enough is the time limit for a run that should end before the limit.
const enough = 20 * time.Second

func runAll(t *testing.T, tools []tool) {
	e := sharedEngine(t)
	for _, tt := range tools {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, e) })
	}
}

func (tt tool) run(t *testing.T, e *python.Engine) {
	m := enginetest.NewMemory(errors.New("the host had enough"))
	out, err := tt.execute(t, e, m)
	fault, _ := err.(*abi.Fault)
	switch {
	case tt.fault == "" && err != nil:
		t.Fatalf("Run = %+v; want %s", err, tt.want)
	case tt.fault != "" && (fault == nil || fault.Code != tt.fault):
		t.Fatalf("Run = %s, %v; want %s", out.Output, err, tt.fault)
	}
	if fault != nil {
		tt.compare(t, fault)
	} else if string(out.Output) != tt.want {
		t.Errorf("output = %s; want %s", out.Output, tt.want)
	}
	if tt.logs != nil {
		var got []string
		for _, line := range m.Logs() {
			got = append(got, string(line.Level)+" "+line.Text)
		}
		if strings.Join(got, "\n") != strings.Join(tt.logs, "\n") {
			t.Errorf("logs = %q; want %q", got, tt.logs)
		}
	}
	if all := strings.Join(out.Warnings, "\n"); !strings.Contains(all, tt.warning) || (tt.warning == "") != (all == "") {
		t.Errorf("warnings = %q; want %q", all, tt.warning)
	}
}

func (tt tool) execute(t *testing.T, e *python.Engine, m *enginetest.Memory) (engine.Output, error) {
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	src := engine.Source{Path: cmp.Or(tt.path, "tool.py"), Code: []byte(tt.code), Entry: tt.entry, Params: tt.params}
	if tt.files != nil {
		src.Files = tt.files
	}
	p, err := e.Load(ctx, src)
	if err != nil {
		return engine.Output{}, err
	}
	defer p.Close()
	in := engine.Input{Limits: tt.limits, Input: json.RawMessage(orObject(tt.input)), Context: json.RawMessage(orObject(tt.env))}
	return p.Run(ctx, in, m.Host())
}

func orObject(text string) string {
	if text == "" {
		return "{}"
	}
	return text
}

func (tt tool) compare(t *testing.T, f *abi.Fault) {
	t.Helper()
	if text := f.Message + "\n" + f.Hint; !strings.Contains(text, tt.message) || tt.exact && text != tt.message {
		t.Errorf("message = %q, hint %q; want %q in it", f.Message, f.Hint, tt.message)
	}
	if got := placeOf(f); tt.place != "" && got != tt.place {
		t.Errorf("place = %s; want %s", got, tt.place)
	}
	if tt.stack != "" && f.Stack != tt.stack {
		t.Errorf("stack =\n%s\nwant\n%s", f.Stack, tt.stack)
	}
	for _, ours := range []string{"_toolrun", "<toolrun>", "/usr/local", "python312"} {
		if strings.Contains(f.Message+f.Stack+f.File, ours) {
			t.Errorf("the fault contains %q: %+v", ours, f)
		}
	}
}

func placeOf(f *abi.Fault) string {
	text, _ := json.Marshal([]any{f.File, f.Line, f.Column})
	return string(text)
}

func TestEntries(t *testing.T) {
	runAll(t, []tool{
		{name: "body", code: "return input['a']", input: `{"a":1}`, want: `1`},
		{name: "body that awaits", code: "import asyncio\nawait asyncio.sleep(0)\nreturn 1", want: `1`},
		{name: "body with an async generator", code: "async def gen():\n    yield 1\n    yield 2\nreturn [x async for x in gen()]", want: `[1,2]`},
		{name: "body with variables of functions", code: "n = 0\ndef more():\n    global n\n    n += 1\nmore(); more()\nreturn [n, (lambda: n)()]", want: `[2,2]`},
		{name: "body with annotations", code: "n: int = 3\nm: int\nclass C:\n    x: int = 4\nreturn n + C.x", want: `7`},
		{name: "body that imports all", code: "from math import *\nreturn floor(pi)", want: `3`},
		{name: "body with a docstring and a future", code: "'''Says hello.'''\nfrom __future__ import annotations\nreturn __doc__", want: `"Says hello."`},
		{name: "body that waits in a list", code: "async def gen():\n    yield 1\nx = [n async for n in gen()]\nprint(x)", want: `null`, logs: []string{"info [1]"}},
		{name: "body that returns in a branch", code: "for i in range(9):\n    if i == 4:\n        return i\n", want: `4`},
		{name: "body with try and finally", code: "try:\n    return 1\nexcept BaseException:\n    return 2\nfinally:\n    print('x')", want: `1`, logs: []string{"info x"}},
		{name: "body that deletes", code: "x = 1\ndel x\ntry:\n    return x\nexcept NameError:\n    return 'gone'", want: `"gone"`},
		{name: "script", code: "print(input['a'])", input: `{"a":1}`, want: `null`, logs: []string{"info 1"}},
		{name: "script that calls its own main", code: "def main():\n    print('once')\nmain()", want: `null`, logs: []string{"info once"}},
		{name: "script that is the program", code: "if __name__ == '__main__':\n    print('yes')", want: `null`, logs: []string{"info yes"}},
		{name: "main behind a guard", code: "def main():\n    return 5\nif __name__ == '__main__':\n    print(main())", want: `5`, logs: nil},
		{name: "a guard that returns", code: "if __name__ == '__main__':\n    return 5", want: `5`},
		{name: "a guard that calls", code: "def save():\n    print('saved')\nif __name__ == '__main__':\n    save()", want: `null`, logs: []string{"info saved"}},
		{name: "nothing is called", code: "def save():\n    return 1\n", want: `null`, warning: "nothing calls the function save"},
		{name: "empty", code: "", want: `null`, warning: "the tool returns nothing"},

		{name: "main by dict", code: "def main(input):\n    return input['a']", input: `{"a":1}`, want: `1`},
		{name: "main by another name", code: "def main(data):\n    return data['a']", input: `{"a":1}`, want: `1`},
		{name: "main by dict and context", code: "def main(data, context):\n    return [data, context['userId']]", input: `{"a":1}`, env: `{"userId":"u"}`, want: `[{"a":1},"u"]`},
		{name: "main by keyword", code: "def main(a, b=2, *, c=3):\n    return [a, b, c]", input: `{"a":1,"c":4}`, want: `[1,2,4]`},
		{name: "main by keyword and rest", code: "def main(a, **rest):\n    return [a, rest]", input: `{"a":1,"c":4}`, want: `[1,{"c":4}]`},
		{name: "main with all by keyword", code: "def main(**given):\n    return given", input: `{"a":1}`, want: `{"a":1}`},
		{name: "main of nothing", code: "def main():\n    return input", input: `{"a":1}`, want: `{"a":1}`},
		{name: "main with a missing key", code: "x = 1\ndef main(a, b):\n    return a", input: `{"a":1}`, fault: abi.ToolError, message: "main() requires b, but the input does not contain it", place: `["tool.py",2,1]`},
		{name: "main with an empty input", code: "def main(title, note=None):\n    return [title, note]", fault: abi.ToolError, message: "main() requires title, but the input does not contain it"},
		{name: "main with a misspelt key", code: "def main(title, note=None):\n    return [title, note]", input: `{"titel":"x"}`, fault: abi.ToolError, message: "but the input does not contain it; the input has the similar key titel"},
		{name: "main with a misspelt key and **rest", code: "def main(title, **rest):\n    return title", input: `{"titel":"x"}`, fault: abi.ToolError, message: "the similar key titel"},
		{name: "main that takes the whole input, of which a key is misspelt", code: "def main(title):\n    return title", input: `{"titel":"x"}`, want: `{"titel":"x"}`,
			warning: "main(title) received the whole input as title, because the input has no key title; the input has the similar key titel"},
		{name: "main that fails with the whole input, of which a key is misspelt", code: "def main(title):\n    return title.upper()", input: `{"titel":"x"}`, fault: abi.ToolError, message: "the input has the similar key titel"},
		{name: "main that takes the whole input by a name for it", code: "def main(data, context):\n    return data", input: `{"date":"x"}`, want: `{"date":"x"}`},
		{name: "main that takes the whole input, of which no key looks like it", code: "def main(order):\n    return order", input: `{"title":"x"}`, want: `{"title":"x"}`},
		{name: "main of two with neither a context nor an input", code: "def main(data, settings):\n    return data", input: `{"a":1}`, fault: abi.ToolError, message: "main() requires data"},
		{name: "main by dict, and an option that is given", code: "def main(data, *, debug=False):\n    return data", input: `{"debug":true}`, fault: abi.ToolError, message: "main() requires data"},
		{name: "main by dict, and an option that is not", code: "def main(data, *, debug=False):\n    return [data, debug]", input: `{"a":1}`, want: `[{"a":1},false]`},
		{name: "main by input and what has a default", code: "def main(input, note=None):\n    return [input, note]", input: `{"a":1}`, want: `[{"a":1},null]`},
		{name: "main by input and another", code: "def main(input, more):\n    return [input, more]", input: `{"a":1}`, env: `{"b":2}`, want: `[{"a":1},{"b":2}]`},
		{name: "main by dict and ctx", code: "def main(data, ctx):\n    return [data, ctx]", input: `{"a":1}`, env: `{"b":2}`, want: `[{"a":1},{"b":2}]`},
		{name: "main by keyword and ctx", code: "def main(a, ctx):\n    return [a, ctx]", input: `{"a":1}`, env: `{"b":2}`, want: `[1,{"b":2}]`},
		{name: "main with only the context", code: "def main(context):\n    return context", input: `{"a":1}`, env: `{"b":2}`, want: `{"b":2}`},
		{name: "main that is called with too little", code: "x = 1\ndef execute(a, b, c):\n    return a", fault: abi.ToolError, message: "missing 1 required positional argument: 'c'", place: `["tool.py",2,1]`},
		{name: "main is a lambda", code: "main = lambda a: a + 1", input: `{"a":1}`, want: `2`},
		{name: "main is a function by another name", code: "def save(a):\n    return a\nexecute = None\nmain: object = save", input: `{"a":1}`, want: `1`},
		{name: "main is partial", code: "import functools\ndef save(a, b):\n    return [a, b]\nmain = functools.partial(save, b=2)", input: `{"a":1}`, want: `[1,2]`},
		{name: "main is a lambda that the tool uses", code: "main = lambda x: x + 1\nprint(list(map(main, [1])))", want: `null`, logs: []string{"info [2]"}},
		{name: "main is what a call returns", code: "def make():\n    return lambda: 1\nmain = make()", want: `null`, warning: "the tool returns nothing: the source does not define main as a function; write def main"},
		{name: "main is a method", code: "class Tool:\n    def main(self):\n        return 1", want: `null`, warning: "the tool returns nothing: the source has no function main or execute and no return"},
		{name: "a handler", code: "def handler(event, context):\n    return 1\n", want: `null`, warning: "nothing calls the function handler, and the tool returned nothing; add def main(input, context): return handler(input, context)"},
		{name: "main is misspelt", code: "def mian():\n    return 1\ndef helper():\n    return 2\n", want: `null`, warning: "nothing calls the function mian, and the tool returned nothing; did you mean main?"},
		{name: "exit", code: "exit()", want: `null`, warning: "the tool returns nothing: line 1 calls exit, which ends the tool without an output; use return"},
		{name: "exit of main", code: "import sys\ndef main(a=1):\n    if a:\n        sys.exit(0)\n    return 1", want: `null`, warning: "line 4 calls sys.exit"},
		{name: "exit only in a main guard", code: "import sys\ndef main():\n    print('run')\nif __name__ == '__main__':\n    main()\n    sys.exit()", want: `null`},
		{name: "exit of main in another branch", code: "import sys\ndef main(a=0):\n    if a:\n        sys.exit(0)\n    return 1", want: `1`},
		{name: "exit in a failure that does not happen", code: "import sys\ndef main(a=0):\n    if a:\n        sys.exit(1)", want: `null`},
		{name: "main in a branch", code: "if 1 < 2:\n    main = lambda: 3", want: `3`},
		{name: "values are all", code: "a = 1\nb = [a]", want: `null`, warning: "the tool returns nothing"},
		{name: "main of a declared parameter that is not given", code: "def main(a):\n    return a", params: []string{"a"}, want: `null`},
		{name: "main async", code: "import asyncio\nasync def main(input):\n    await asyncio.sleep(0)\n    return input['a']", input: `{"a":1}`, want: `1`},
		{name: "main that is decorated", code: "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(*args, **kwargs):\n        return f(*args, **kwargs) * 2\n    return g\n@twice\ndef main(a):\n    return a", input: `{"a":2}`, want: `4`},
		{name: "main from another file", code: "from other import main", files: fstest.MapFS{"other.py": {Data: []byte("def main():\n    return 6\n")}}, want: `6`},
		{name: "main in a file named as a module", code: "import calendar\ndef main():\n    return calendar.isleap(2032)", path: "tools/calendar.py", want: `true`},
		{name: "execute", code: "def execute(input: dict, context: dict) -> dict:\n    return [input, context]", input: `{"a":1}`, env: `{"b":2}`, want: `[{"a":1},{"b":2}]`},
		{name: "execute with only the input", code: "def execute(inputs):\n    return inputs", input: `{"inputs":1}`, want: `{"inputs":1}`},
		{name: "execute async", code: "async def execute(input, context):\n    return 1", want: `1`},
		{name: "an entry by name", code: "def save(a):\n    return a\ndef main():\n    return 'no'", entry: "save", input: `{"a":1}`, want: `1`},
		{name: "an entry that is not there", code: "def main():\n    return 1", entry: "save", fault: abi.ToolError, message: "the tool defines no function save"},

		{name: "parameters", code: "return [city, days, __import__('json').dumps(input)]", params: []string{"city", "days"}, input: `{"city":"Rome"}`, want: `["Rome",null,"{\"city\": \"Rome\"}"]`},
		{name: "parameters at the top of a module", code: "greeting = 'Hello ' + name\ndef main():\n    return greeting", params: []string{"name"}, input: `{"name":"Ann"}`, want: `"Hello Ann"`},
		{name: "a parameter named as what is there", code: "return [datetime, input['datetime']]", params: []string{"datetime"}, input: `{"datetime":1}`, want: `[1,1]`},
		{name: "environment", code: "return [env.REGION, env['REGION'], context['env']['REGION']]", env: `{"env":{"REGION":"eu"}}`, want: `["eu","eu","eu"]`},
		{name: "datetime is the class", code: "return datetime(2031, 5, 6).isoformat()", want: `"2031-05-06T00:00:00"`},
		{name: "datetime is the module where it is imported", code: "import datetime\nreturn datetime.datetime(2031, 5, 6).isoformat()", want: `"2031-05-06T00:00:00"`},
		{name: "modules without an import", code: "return [math.floor(2.5), re.sub('a', 'b', 'a'), json.dumps(1), statistics.mean([1, 3])]", want: `[2,"b","1",2]`},
		{name: "memory is a module", code: "from memory import get_content, NotFoundError\nimport memory as m\nreturn [get_content('counter'), m is memory]", want: `[null,true]`},
	})
}

// If a regular expression in a source is a constant, it is compiled before the first run.
func TestPatternsAreReady(t *testing.T) {
	e := sharedEngine(t)
	code := "import re\n\ndef main():\n    before = len(re._cache)\n    re.sub(r'x+y\\d', '', 'text')\n    known = len(re._cache) - before\n" +
		"    re.sub('%s+' % known, '', 'text')\n    return [known, len(re._cache) - before]\n"
	p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(code)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Run(t.Context(), engine.Input{}, engine.Host{})
	if err != nil || string(out.Output) != "[0,1]" {
		t.Errorf("Run = %s, %v; want [0,1]", out.Output, err)
	}
}
