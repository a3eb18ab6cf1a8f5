package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
)

// endless contains tools that never end. Some of the tools loop in Python code, and others loop in
// the interpreter's C code.
var endless = map[string]string{
	"loop":               "while True:\n    pass",
	"loop that catches":  "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass\n    finally:\n        continue",
	"regular expression": "re.match('(a+)+$', 'a' * 40 + 'b')",
	"large number":       "10 ** 10 ** 8",
	"digits":             "import sys\nsys.set_int_max_str_digits(0)\nstr(3 ** 10 ** 7)",
	"sum":                "sum(range(10 ** 12))",
	"search":             "('a' * 10 ** 6).count('a' * (5 * 10 ** 5) + 'b' + 'a' * 10) or [0 for _ in iter(int, 1)]",
	"sort":               "class A:\n    def __lt__(self, other):\n        return random.random() < 0.5\nwhile True:\n    sorted([A() for _ in range(1000)])",
	"sleep":              "time.sleep(1000)",
	"sleep that catches": "while True:\n    try:\n        time.sleep(1000)\n    except BaseException:\n        pass",
	"asyncio":            "import asyncio\nawait asyncio.sleep(1000)",
	"memory call":        "memory.get_content('slow')",
	"printing":           "while True:\n    print()",
	"logging":            "while True:\n    logging.info('x')",
	"answering":          "class D(dict):\n    def __init__(self):\n        super().__init__(a=1)\n    def items(self):\n        while True:\n            yield ('a', 1)\nreturn D()",
	"text of an error":   "class E(Exception):\n    def __str__(self):\n        while True:\n            pass\nraise E",
	"finaliser":          "class D:\n    def __del__(self):\n        while True:\n            pass\nD()",
	"top of a module":    "while True:\n    pass\ndef main():\n    pass",
	"hashing":            "data = bytes(10 ** 7)\nwhile True:\n    hashlib.sha256(data)",
	"compression":        "import zlib\nwhile True:\n    zlib.compress(b'a' * 10 ** 7, 9)",
	"random numbers":     "import os\nwhile True:\n    os.urandom(10 ** 7)",
	"collecting":         "import gc\nkeep = [[] for _ in range(10 ** 6)]\nwhile True:\n    gc.collect()",
	"compiling":          "while True:\n    compile('x = 1\\n' * 10 ** 5, 'x', 'exec')",
}

// TestEndless checks that tools end at their deadline. A garbage collection of Go waits until all
// guests have yielded. Some of the deadlines in the test pass during a garbage collection.
func TestEndless(t *testing.T) {
	e := sharedEngine(t)
	stopped := make(chan struct{})
	collecting, stop := context.WithCancel(t.Context())
	go func() {
		defer close(stopped)
		for collecting.Err() == nil {
			runtime.GC()
		}
	}()
	defer func() { stop(); <-stopped }()
	for name, code := range endless {
		t.Run(name, func(t *testing.T) {
			p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(code)})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			out, err := p.Run(ctx, engine.Input{}, enginetest.NewMemory(nil).Host())
			if !errors.Is(err, abi.Timeout) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Run = %s, %v; want a timeout", out.Output, err)
			}
		})
	}
}

// TestLoadEnds tests a tool that compiles slowly. Load must return when its context ends.
func TestLoadEnds(t *testing.T) {
	e := sharedEngine(t)
	if _, err := e.Load(t.Context(), engine.Source{Path: "tool.py"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := e.Load(ctx, engine.Source{Path: "tool.py", Code: []byte(repeat("x = [1, 2, 3]\n", 50000))})
	if !errors.Is(err, abi.Timeout) {
		t.Errorf("Load = %v; want a timeout", err)
	}
}

func TestClosed(t *testing.T) {
	e := newEngine(t)
	p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte("def main():\n    memory.get_content('wait')\n    return 1\n")})
	if err != nil {
		t.Fatal(err)
	}
	in := make(chan struct{})
	host := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) {
		close(in)
		time.Sleep(10 * time.Millisecond) // the pause makes it likely that Close is called during the run
		return json.RawMessage("null"), nil
	}}
	done := make(chan error)
	go func() {
		_, err := p.Run(context.Background(), engine.Input{}, host)
		done <- err
	}()
	<-in
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Run during Close = %v", err)
	}
	if _, err := p.Run(t.Context(), engine.Input{}, host); err == nil {
		t.Error("Run of a closed program = nil; want an error")
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}
