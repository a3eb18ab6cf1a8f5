package python_test

import (
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/python"
)

// throughC contains tools whose nested calls pass through C code. Each tool defines a function f,
// which calls itself. The argument of f is the number of calls that f still has to nest. The result
// of f is the number of nested calls.
var throughC = map[string]string{
	"lru_cache":          "@functools.lru_cache(None)\ndef f(n):\n    return n and 1 + f(n - 1)",
	"__init__":           "class A:\n    def __init__(self, n):\n        self.depth = n and 1 + A(n - 1).depth\ndef f(n):\n    return A(n).depth",
	"__repr__":           "class A:\n    def __init__(self, n):\n        self.n = n\n    def __repr__(self):\n        return '.' + repr(A(self.n - 1)) if self.n else ''\ndef f(n):\n    return len(repr(A(n)))",
	"__eq__":             "class A:\n    def __init__(self, n):\n        self.n = n\n    def __eq__(self, other):\n        global depth\n        depth = max(depth, self.n)\n        return self.n == 0 or A(self.n - 1) == A(self.n - 1)\ndef f(n):\n    global depth\n    depth = 0\n    same = A(n) == A(n)\n    return depth if same else -1",
	"__getattr__":        "class A:\n    def __getattr__(self, name):\n        n = int(name[1:])\n        return n and 1 + getattr(self, f'_{n - 1}')\ndef f(n):\n    return getattr(A(), f'_{n}')",
	"__len__ by sum":     "class A:\n    def __init__(self, n):\n        self.n = n\n    def __len__(self):\n        return sum(1 + len(A(n)) for n in [self.n - 1]) if self.n else 0\ndef f(n):\n    return len(A(n))",
	"key of sorted":      "def f(n):\n    depth = 0\n    def key(x):\n        nonlocal depth\n        depth = n and 1 + f(n - 1)\n        return x\n    sorted([1], key=key)\n    return depth",
	"map":                "def f(n):\n    return n and 1 + list(map(f, [n - 1]))[0]",
	"partial":            "def g(n):\n    return n and 1 + functools.partial(g, n - 1)()\ndef f(n):\n    return g(n)",
	"function of re.sub": "def f(n):\n    return n and 1 + int(re.sub('x', lambda m: str(f(n - 1)), 'x'))",
	"hook of json":       "def f(n):\n    def hook(o):\n        return n and 1 + f(n - 1)\n    return json.loads('{}', object_hook=hook)",
	"UserList":           "from collections import UserList\ndef f(n):\n    a = UserList()\n    for _ in range(n):\n        a = UserList([a])\n    return repr(a).count('[') - 1",
	"lists":              "def f(n):\n    a = []\n    for _ in range(n):\n        a = [a]\n    return repr(a).count('[') - 1",
	"pickle":             "import pickle\ndef f(n):\n    a = []\n    for _ in range(n):\n        a = [a]\n    a = pickle.loads(pickle.dumps(a))\n    depth = -1\n    while True:\n        depth += 1\n        if not a:\n            return depth\n        a = a[0]",
}

// TestDeepCallsThroughC checks that the C stack is large enough for nested calls that do not exceed
// the recursion limit.
func TestDeepCallsThroughC(t *testing.T) {
	const levels = 400
	var tools []tool
	for name, code := range throughC {
		tools = append(tools, tool{name: name, code: fmt.Sprintf("%s\ndef main():\n    return f(%d)", code, levels),
			limits: engine.Limits{CallDepth: 10 * levels}, want: fmt.Sprint(levels)})
	}
	tools = append(tools,
		tool{name: "within the default limit", code: throughC["lru_cache"] + "\ndef main():\n    return f(450)", want: "450"},
		tool{name: "brackets of literal_eval", code: "import ast\nreturn ast.literal_eval('[' * 90 + ']' * 90) != []", want: "true"},
		tool{name: "an expression", code: "return eval('(' * 90 + '1' + ')' * 90) + eval('-' * 90 + '1')", want: "2"},
	)
	runAll(t, tools)
}

// TestTooDeepCallsThroughC tests nested calls that are too deep for the C stack, under a high
// recursion limit. The calls must raise an exception that a tool can catch, and the interpreter
// must remain usable.
func TestTooDeepCallsThroughC(t *testing.T) {
	const catch = `
def attempt():
    try:
        f(20_000)
    except RecursionError:
        return True
    return False

def main():
    return [attempt(), attempt(), f(10)]
`
	var tools []tool
	for name, code := range throughC {
		tools = append(tools, tool{name: name, code: code + catch, limits: engine.Limits{CallDepth: 100_000}, want: "[true,true,10]"})
	}
	runAll(t, tools)
}

// TestStackOverflow checks that a stack overflow ends only the run in which it occurs.
func TestStackOverflow(t *testing.T) {
	e := newEngine(t)
	after := loadTool(t, e, "return sorted([2, 1], key=lambda n: n)")
	python.ShrinkStack(e, 1<<20)
	for name, code := range throughC {
		if name == "lists" || name == "pickle" { // these nested calls use little of the C stack
			continue
		}
		code += "\ndef main():\n    try:\n        f(400)\n    except BaseException:\n        return 'caught'\n"
		message := "nested calls overflowed the stack"
		tool{name: name, code: code, limits: engine.Limits{CallDepth: 4000}, fault: abi.StackLimit, message: message}.run(t, e)
		out, err := after.Run(t.Context(), engine.Input{}, engine.Host{})
		if err != nil || string(out.Output) != "[1,2]" {
			t.Fatalf("Run after an overflow = %s, %v; want [1,2]", out.Output, err)
		}
	}
}
