package js_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
)

// warnings runs a tool. It returns the warnings of this run. If the tool calls get_content, the
// result is {"n":1}.
func warnings(t *testing.T, src engine.Source) ([]string, error) {
	t.Helper()
	program, err := js.New().Load(context.Background(), src)
	if err != nil {
		t.Fatalf("Load(%s) = %v", src.Code, err)
	}
	defer program.Close()
	out, err := program.Run(context.Background(), engine.Input{Input: json.RawMessage(`{}`), Context: json.RawMessage(`{}`)}, engine.Host{
		Call: func(context.Context, abi.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"n":1,"a":{"b":2}}`), nil
		},
	})
	return out.Warnings, err
}

func TestMissingAwait(t *testing.T) {
	const missing = ": an await is missing before memory.get_content: "
	tests := []struct{ name, code, want string }{
		{"a field of the variable", "const x = memory.get_content('s');\nreturn {n: x.n};", "tool.js:1:11" + missing + "x is a promise, which has no n"},
		{"used before it is declared, in a function", "const f = () => x.n;\nlet x = memory.get_content('s');\nreturn f();", "tool.js:2:9" + missing + "x is a promise, which has no n"},
		{"in a block", "if (true) {\n  const x = memory.get_content('s');\n  return [1].map(() => x?.n);\n}", "tool.js:2:13" + missing + "x is a promise, which has no n"},
		{"a field by its name in quotes", "const x = memory.get_content('s'); return {n: x['n']};", "tool.js:1:11" + missing},
		{"a field of the call", "return {n: memory.get_content('s').n};", "tool.js:1:12" + missing + "which has no n"},
		{"a field of the call that may be null", "return {n: memory.get_content('s')?.n};", "tool.js:1:12" + missing},
		{"a value in place of null", "const x = memory.get_content('s') ?? {n: 0}; return 1;", "tool.js:1:11" + missing + "which is never null"},
		{"a value in place of nothing", "const x = memory.get_content('s') || {n: 0}; return 1;", "tool.js:1:11" + missing},
		{"a value in place of the variable", "const x = memory.get_content('s'); const n = x ?? 1; return 1;", "tool.js:1:11" + missing + "x is a promise, which is never null"},
		{"taken apart", "const {n} = memory.get_content('s'); return n ?? 0;", "tool.js:1:13" + missing},
		{"taken apart later", "const x = memory.get_content('s'); const {a: {b} = {}} = x; return b ?? 0;", "tool.js:1:11" + missing},
		{"not used", "memory.get_content('s');\nreturn 1;", "tool.js:1:1: the result of this memory.get_content is not used"},
		{"in main", "async function main(input) {\n  const x = memory.get_content('s');\n  return {n: x.n};\n}", "tool.js:2:13" + missing},
		{"in a module", "export default async function (input) {\n  const x = memory.get_content('s');\n  return {n: x.n};\n}", "tool.js:2:13" + missing},

		{"awaited", "const x = await memory.get_content('s'); return {n: x.n};", ""},
		{"awaited later", "const p = memory.get_content('s'); const x = await p; return {n: x.n, m: (await p).n};", ""},
		{"awaited together", "const [x, y] = await Promise.all([memory.get_content('s'), memory.get_content('t')]); return {n: x.n + y.n};", ""},
		{"awaited in a list", "const all = [memory.get_content('s')]; return {n: (await all[0]).n, m: all.length};", ""},
		{"then", "const x = memory.get_content('s'); return x.then((c) => c.n);", ""},
		{"then at once", "return memory.get_content('s').then((c) => c.n).catch(() => 0);", ""},
		{"returned", "return memory.get_content('s');", ""},
		{"passed on", "const x = memory.get_content('s'); return (async (p) => (await p).n)(x);", ""},
		{"another of the name", "const x = memory.get_content('s'); const f = (x) => x.n; return f(await x);", ""},
		{"another in a block", "const x = memory.get_content('s'); { const x = {n: 1}; console.log(x.n); } return (await x).n;", ""},
		{"another in a loop", "const x = memory.get_content('s'); for (const x of [{n: 1}]) console.log(x.n); return (await x).n;", ""},
		{"another that was caught", "const x = memory.get_content('s'); try { throw {n: 1}; } catch (x) { console.log(x.n); } return (await x).n;", ""},
		{"another that is a function", "const x = memory.get_content('s'); { function x() {} x.n = 1; console.log(x.n); } return (await x).n;", ""},
		{"another taken apart", "const x = memory.get_content('s'); (({x}) => x.n)({x: {}}); return (await x).n;", ""},
		{"replaced", "let x = memory.get_content('s'); x = await x; return {n: x.n};", ""},
		{"replaced in a function", "let x = memory.get_content('s'); const f = async () => { [x] = [await x]; }; await f(); return {n: x.n};", ""},
		{"given a field", "const x = memory.get_content('s'); x.at = 1; return {n: (await x).n, at: x.at};", ""},
		{"a member that promises have", "const x = memory.get_content('s'); return x.constructor === Promise && x['then'] !== undefined;", ""},
		{"taken apart into a member that promises have", "const {then, constructor} = memory.get_content('s'); return typeof then;", ""},
		{"memory of its own", "const memory = {get_content: () => ({n: 1})}; const x = memory.get_content('s'); return {n: x.n};", ""},
		{"memory of a parameter", "return ((memory) => { const x = memory.get_content('s'); return {n: x.n}; })({get_content: () => ({n: 1})});", ""},
		{"memory changed", "memory.get_content = () => ({n: 1}); const x = memory.get_content('s'); return {n: x.n};", ""},
		{"a write without await", "memory.set_content('s', {}); return 1;", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := warnings(t, engine.Source{Path: "tool.js", Code: []byte(tt.code)})
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(got, "\n"); tt.want == "" && all != "" || !strings.HasPrefix(all, tt.want) || len(got) > 1 {
				t.Errorf("warnings of\n%s\nare %q; want %q", tt.code, got, tt.want)
			}
		})
	}
}

// TestMissingAwaitHint runs tools in which a missing await causes an error. The error must have a
// hint about the await. Code in packages must be ignored.
func TestMissingAwaitHint(t *testing.T) {
	const code = "const x = memory.get_content('s');\nreturn x.list.length;"
	_, err := warnings(t, engine.Source{Path: "tool.js", Code: []byte(code)})
	f, ok := errors.AsType[*abi.Fault](err)
	if !ok || f.Code != abi.ToolError || !strings.HasPrefix(f.Hint, "tool.js:1:11: an await is missing") || !strings.HasPrefix(f.Message, "TypeError") {
		t.Errorf("Run = %+v; want a TypeError with a hint at the await", err)
	}
	_, err = warnings(t, engine.Source{Path: "tool.js", Code: []byte("memory.get_content('s'); throw new Error('no');")})
	if f, ok := errors.AsType[*abi.Fault](err); !ok || f.Hint != "" {
		t.Errorf("Run = %+v; want no hint at what did not lead to it", err)
	}
	got, err := warnings(t, engine.Source{
		Path: "tool.js", Code: []byte("import { read } from 'pack';\nreturn typeof read();"),
		Files: fstest.MapFS{"node_modules/pack/index.js": {Data: []byte("export function read() { const x = memory.get_content('s'); return x.n; }")}},
	})
	if err != nil || len(got) > 0 {
		t.Errorf("warnings about a package = %q, %v; want none", got, err)
	}
}

// TestMissingAwaitIsBounded checks sources for which the lint would take quadratic time. The lint
// must stop early.
func TestMissingAwaitIsBounded(t *testing.T) {
	var code strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&code, "const x%d = memory.get_content('s');\n", i)
	}
	code.WriteString("return {n: x0.n};")
	if got, err := warnings(t, engine.Source{Path: "tool.js", Code: []byte(code.String())}); err != nil || len(got) > 0 {
		t.Errorf("warnings = %q, %v; want none", got, err)
	}
}
