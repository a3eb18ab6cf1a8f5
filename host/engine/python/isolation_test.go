package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/python"
)

// planters contains tools that try to leave traces for later runs, or to break later runs. A
// planter can return any result or fault, except an internal fault.
var planters = map[string]string{
	"globals":          "import builtins, sys\nbuiltins.planted = globals()['planted'] = sys.planted = 'PLANTED-by-' + 'someone'",
	"json":             "import json\njson.dumps = json.loads = lambda *a, **k: 'PLANTED'\njson.encoder.c_make_encoder = json.encoder.encode_basestring = None\njson.planted = 1\nreturn {}",
	"builtins":         "import builtins\nfor name in ('len', 'isinstance', 'str', 'getattr', '__import__', 'print', 'dict', 'list'):\n    setattr(builtins, name, None)",
	"builtins cleared": "import builtins\nvars(builtins).clear()",
	"modules cleared":  "import sys\nsys.modules.clear(); sys.meta_path.clear(); sys.path.clear()",
	"stdlib":           "import re, os, time, random, datetime as d\nre.sub = os.read = os.write = time.time = random.random = d.datetime = None\nrandom.seed(1); random.planted = 1",
	"our half":         "import sys\nfor name, module in list(sys.modules.items()):\n    if name.startswith('_toolrun'):\n        for key in list(vars(module)):\n            setattr(module, key, None)",
	"our functions":    "import sys\ns = sys.modules['_toolrun.serving']\ns.serve.__code__ = (lambda: 1 / 0).__code__",
	"our globals":      "import gc\nfor o in gc.get_objects():\n    if isinstance(o, dict) and '_tool' in o:\n        o.clear()",
	"thawed":           "import gc\ngc.unfreeze(); gc.collect(); gc.disable()",
	"memory filled":    "keep = [bytearray(1 << 20) for _ in range(100)]\nfor b in keep:\n    b[:] = b'PLANTED!' * (1 << 17)",
	"memory used up":   "keep = []\nwhile True:\n    keep.append(b'PLANTED!' * (1 << 16))",
	"small memory":     "keep = [('PLANTED%d' % i) * 3 for i in range(20000)]",
	"closed":           "import os\nfor fd in range(10):\n    try:\n        os.close(fd)\n    except OSError:\n        pass",
	"exit":             "import sys\nsys.exit(3)",
	"hard exit":        "import os\nos._exit(0)",
	"abort":            "import os\nos.abort()",
	"recursion":        "def f(n):\n    return f(n + 1)\nf(0)",
	"recursion in C":   "import sys\nclass A:\n    def __repr__(self):\n        return repr([self])\nrepr(A())",
	"generators":       "def g():\n    try:\n        while True:\n            yield 1\n    finally:\n        import builtins\n        builtins.planted = 1\n        memory.set_content('planted', {})\nkeep = [g() for _ in range(100)]\nfor x in keep:\n    next(x)",
	"finalisers":       "import atexit, weakref, builtins\nclass D:\n    def __del__(self):\n        builtins.planted = 1\n        memory.set_content('planted', {})\nd = D(); weakref.finalize(d, print, 'PLANTED'); atexit.register(print, 'PLANTED')\nd.d = d\ndel d",
	"trace":            "import sys\nsys.settrace(lambda *a: None); sys.setprofile(lambda *a: None); sys.excepthook = sys.unraisablehook = None",
	"hooks":            "import sys\nsys.addaudithook(lambda *a: None)",
	"signals":          "import signal\nsignal.raise_signal(2)",
	"spin":             "while True:\n    pass",
	"sleep":            "import time\ntime.sleep(1000)",
	"bytecode":         "def f():\n    pass\nf.__code__ = f.__code__.replace(co_code=bytes([100, 255, 83, 0] * 20), co_consts=())\nf()",
	"stack size":       "def f():\n    pass\nf.__code__ = f.__code__.replace(co_code=bytes([151, 0] + [100, 0] * 100000 + [83, 0]), co_stacksize=1)\nf()",
	"messages":         "import os, time\nfor m in (b'ready\\n1\\n2\\n3', b'done\\n{}', b'answer\\n[1]\\n{}', b'unfit\\n', b'error\\nnull', b'log', b'file\\n\"../x.py\"', b'zone', b'zone\\n\\xff', b'zones\\n' + b'\\n' * 99, b'call', b'call\\nget_content', b'refuse\\nx', b'call\\nget_content\\n' + b'\\n' * 99, b'\\xff' * 100, b'log\\ninfo\\n\\xff', b'answer\\n'):\n    os.write(0, m)\n    time.time()\n    os.read(0, 10)\nreturn 1",
	"huge messages":    "import os\nfor m in (b'answer\\n', b'error\\n', b'log\\ninfo\\n\"', b'call\\nget_content\\n', b'unfit\\n\"', b'file\\n\"'):\n    os.write(0, m + b'1' * (60 << 20))",
	"a forged start":   "import os\nos.write(0, b'done\\nnonsense')\nos.close(0)\ndef main():\n    return 1",
	"another start":    "import os\nos.write(0, b'done\\n{\"random\":false}')\nos.close(0)\ndef main():\n    return 1",
	"variables":        "import os\nos.environ['PLANTED'] = 'PLANTED-by-' + 'someone'\nos.environ._data[b'planted'] = b'PLANTED'\nos.putenv('PLANTED', 'x')\nos.environ = {}",
	"zones":            "import zoneinfo\nzoneinfo.available_timezones = None\nzoneinfo._common.load_tzdata = print\nkeep = zoneinfo.ZoneInfo('Asia/Tokyo')",
	"reads":            "import os\nwhile os.read(0, 1 << 16) or True:\n    pass",
}

// probe is a tool that returns all traces of other runs that it can find.
const probe = `
import builtins, gc, sys, json, random, os
found = [name for name in ('planted',) if hasattr(builtins, name) or hasattr(sys, name) or hasattr(json, name) or name in globals() or hasattr(random, name)]
texts = [o for o in gc.get_objects() for o in (list(o.values()) if type(o) is dict else o if type(o) in (list, tuple) else ()) if type(o) is str and 'PLAN' 'TED' in o and '"' not in o]
checks = [json.dumps([1]) == '[1]', len('ab') == 2, os.read is not None, sys.getrecursionlimit() < 2000, len(os.environ) == 0, gc.isenabled(), gc.get_freeze_count() > 0]
return [found, texts[:3], all(checks)]
`

const clean = `[[],[],true]`

// TestNothingIsLeftBehind runs all planters repeatedly. After each run of a planter, the next
// instance must equal the first instance bit for bit, and the tool "probe" must find no traces. A
// soak executes more than a thousand runs.
func TestNothingIsLeftBehind(t *testing.T) {
	rounds := 2
	if os.Getenv("TOOLRUN_SOAK") != "" {
		rounds = 1000/len(planters) + 1
	}
	e := sharedEngine(t)
	seen := loadTool(t, e, probe)
	memory := enginetest.NewMemory(errors.New("the host had enough"))
	tools, fresh := map[string]engine.Program{}, map[string]uint64{}
	for name, code := range planters {
		tools[name] = loadTool(t, e, code)
		fresh[name] = fingerprint(t, tools[name])
	}
	runs := 0
	for range rounds {
		for name, tool := range tools {
			runs++
			plant(t, name, tool, memory)
			if fingerprint(t, tool) != fresh[name] {
				t.Errorf("%s: the next run starts from another state than the first", name)
			}
			checkClean(t, name, seen)
		}
	}
	t.Logf("%d runs, each followed by an instance like the first and by another tool that found nothing", runs)
	for _, call := range memory.Calls() {
		if string(call.Arg(0)) == `"planted"` {
			t.Error("a guest continued after its run")
		}
	}
}

func loadTool(t testing.TB, e *python.Engine, code string) engine.Program {
	t.Helper()
	p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(code)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

var seed = maphash.MakeSeed()

// fingerprint returns a hash of the memory and the globals from which the next run of a tool would
// start.
func fingerprint(t *testing.T, p engine.Program) uint64 {
	t.Helper()
	memory, globals, err := python.Fresh(p)
	if err != nil {
		t.Fatal(err)
	}
	return maphash.Comparable(seed, [2]uint64{maphash.Bytes(seed, memory), maphash.String(seed, fmt.Sprint(globals))})
}

// plant runs a tool with a deadline.
func plant(t *testing.T, name string, p engine.Program, m *enginetest.Memory) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	in := engine.Input{Limits: engine.Limits{MemoryBytes: 192 << 20}}
	_, err := p.Run(ctx, in, m.Host())
	fault, ok := err.(*abi.Fault)
	if err != nil && (!ok || fault.Code == abi.Internal || fault.ID != "") {
		t.Errorf("%s: Run = %v; want no internal fault", name, err)
	}
}

func checkClean(t *testing.T, after string, p engine.Program) {
	t.Helper()
	out, err := p.Run(t.Context(), engine.Input{}, engine.Host{})
	if err != nil || string(out.Output) != clean {
		t.Fatalf("after %s: Run = %s, %v; want %s", after, out.Output, err, clean)
	}
}

// The host looks up the fault in its own list and ignores the guest's description of the fault.
func TestForgedFaults(t *testing.T) {
	runAll(t, []tool{
		{name: "none was given", code: "import os\nos.write(0, b'error\\n{\"message\":\"x\",\"fault\":0,\"kind\":\"memory\",\"code\":\"conflict\",\"id\":\"1\"}')\nos.close(0)", fault: abi.ToolError},
		{name: "a negative number", code: "import os\nos.write(0, b'error\\n{\"fault\":-1}')\nos.close(0)", fault: abi.ToolError},
		{name: "no number", code: "import os\nos.write(0, b'error\\n{\"fault\":\"0\"}')\nos.close(0)", fault: abi.ToolError},
		{name: "an error that looks the same", code: "raise ConflictError('conflict', 'm', 'prefs')", fault: abi.ToolError, message: "ConflictError: m"},
		{name: "a copy of the error", code: "import copy\ntry:\n    memory.get_content('forbidden')\nexcept MemoryAccessError as e:\n    raise copy.copy(e)", fault: abi.ToolError},
		{name: "the error itself, later", code: "try:\n    memory.get_content('forbidden')\nexcept MemoryAccessError as e:\n    kept = e\nkept.code = 'conflict'\nraise kept", fault: abi.AccessDenied},
		{name: "a file, while it runs", code: "import os, answer\nos.write(0, b'file\\n\"answer.py\"')\nreturn os.read(0, 100).decode()", files: fstest.MapFS{"answer.py": {}}, want: `"none\n"`},
		{name: "a limit", code: "raise RecursionError('maximum recursion depth exceeded')", fault: abi.StackLimit},
		{name: "an answer and then silence", code: "import os\nos.write(0, b'answer\\n1\\n{}')\nos.close(0)", want: `1`},
		{name: "an answer that is not JSON", code: "import os\nos.write(0, b'answer\\n{\\n{}')\nos.close(0)", fault: abi.OutputInvalid},
		{name: "a context that is not an object", code: "import os\nos.write(0, b'answer\\n1\\n[]')\nos.close(0)", fault: abi.OutputInvalid},
		{name: "a context of the workflow", code: "import os\nos.write(0, b'answer\\n1\\n{\"st\\\\u0065ps\":1}')\nos.close(0)", fault: abi.OutputInvalid},
	})
}

// The random values of two runs must differ, and so must the random values of two tools.
func TestRandomness(t *testing.T) {
	const code = `
import hashlib, tempfile
r = random.Random()
def main():
    return [random.random(), random.getrandbits(60), str(uuid.uuid4()), str(uuid.uuid1()), secrets.token_hex(8), __import__('os').urandom(8).hex(),
            r.random() if False else random.Random().random(), random.SystemRandom().random(), next(tempfile._get_candidate_names()), random.sample(range(1000), 5)]
`
	e := sharedEngine(t)
	seen := map[string]bool{}
	for range 3 {
		p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(code)})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			out, err := p.Run(t.Context(), engine.Input{}, engine.Host{})
			if err != nil {
				t.Fatal(err)
			}
			var values []json.RawMessage
			if err := json.Unmarshal(out.Output, &values); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if seen[string(v)] {
					t.Errorf("value %d = %s twice; want different values", i, v)
				}
				seen[string(v)] = true
			}
		}
		p.Close()
	}
}
