package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/enginetest"
	"github.com/toolrun/toolrun/host/engine/enginetest/pythontools"
	"github.com/toolrun/toolrun/host/engine/python"
)

// TestTopOnce checks that the top level of a tool runs only once for all runs. Each run must get
// the objects and the log lines of the top level.
func TestTopOnce(t *testing.T) {
	e := sharedEngine(t)
	const code = "print('top')\nmade = []\ndef main(n):\n    made.append(n)\n    return [made, id(made)]\n"
	p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(code)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m := enginetest.NewMemory(nil)
	var first string
	for n := range 5 {
		out, err := p.Run(t.Context(), engine.Input{Input: json.RawMessage(`{"n":` + strconv.Itoa(n) + `}`)}, m.Host())
		if err != nil || len(out.Warnings) > 0 {
			t.Fatalf("Run = %v, %v", err, out.Warnings)
		}
		made, address, _ := strings.Cut(string(out.Output), "],")
		if want := "[[" + strconv.Itoa(n); made != want {
			t.Errorf("output = %s; want %s", made, want)
		}
		if n == 0 {
			first = address
		}
		if address != first {
			t.Errorf("address of the list = %s; want that of the first run, %s", address, first)
		}
	}
	if !python.RanOnce(p) {
		t.Error("the top level ran in each run; want once")
	}
	if got := len(m.Logs()); got != 5 {
		t.Errorf("log lines = %d; want one per run", got)
	}
}

// TestTopVaries tests top levels that use a varying value. Each run must execute such a top level
// itself.
func TestTopVaries(t *testing.T) {
	e := sharedEngine(t)
	files := fstest.MapFS{"stamp.py": {Data: []byte("def stamp():\n    return [datetime.now().isoformat()]\nfrom datetime import datetime\nNOW = stamp()\n")}}
	for _, tt := range []struct{ name, top, warning string }{
		{"time", "import time\nx = time.time()", "uses the time in tool.py:2, so"},
		{"monotonic time", "import time\nx = time.perf_counter()", "uses the time in tool.py:2, so"},
		{"a date", "def now():\n    return str(datetime.now())\n\nx = now()", "uses the time in tool.py:2, so"},
		{"time in a module", "import stamp\nx = stamp.NOW", "uses the time in stamp.py:2, so"},
		{"time without a location", "import time\nx = next(iter(time.time_ns, 0))", "uses the time, so"},
		{"a line that is logged", "import logging\nlogging.info('x')\nx = time.time()", "uses the time in tool.py:2, so"},
		{"random", "import random\nx = random.random()", "uses random numbers in tool.py:2, so"},
		{"a seed", "import random\nrandom.seed(1)\nx = random.random(), id(random)", "uses random numbers in tool.py:2, so"},
		{"urandom", "import uuid\nx = str(uuid.uuid4())", "uses random numbers in tool.py:2, so"},
		{"input", "x = str(input['n'])", ""},
		{"a failure", "x = 1 / 0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte(tt.top + "\ndef main():\n    return x\n"), Files: files})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			seen := map[string]bool{}
			for n := range 3 {
				out, err := p.Run(t.Context(), engine.Input{Input: json.RawMessage(`{"n":` + strconv.Itoa(n) + `}`)}, engine.Host{})
				if tt.name == "a failure" {
					if !errors.Is(err, abi.ToolError) {
						t.Errorf("Run = %v; want tool_error", err)
					}
					continue
				}
				if err != nil || !strings.Contains(strings.Join(out.Warnings, "\n"), tt.warning) || (tt.warning == "") != (len(out.Warnings) == 0) {
					t.Errorf("Run = %v, warnings %q; want %q", err, out.Warnings, tt.warning)
				}
				seen[string(out.Output)] = true
			}
			if want := 3; tt.name != "a seed" && tt.name != "a failure" && len(seen) != want {
				t.Errorf("outputs = %v; want a different one in each run", seen)
			}
		})
	}
}

// TestFirstRuns starts several runs of a new program concurrently.
func TestFirstRuns(t *testing.T) {
	e := sharedEngine(t)
	p, err := e.Load(t.Context(), engine.Source{Path: "tool.py", Code: []byte("import difflib\nx = sum(range(100000))\ndef main(n):\n    return [n, x]\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			out, err := p.Run(t.Context(), engine.Input{Input: json.RawMessage(`{"n":` + strconv.Itoa(n) + `}`)}, engine.Host{})
			if want := "[" + strconv.Itoa(n) + ",4999950000]"; err != nil || string(out.Output) != want {
				t.Errorf("Run = %s, %v; want %s", out.Output, err, want)
			}
		})
	}
	all.Wait()
}

// TestFullStarts tests an engine without snapshots. Such an engine starts an interpreter for each
// run.
func TestFullStarts(t *testing.T) {
	e := newEngine(t, python.WithFullStarts())
	for b, want := range map[enginetest.Behaviour]string{
		enginetest.Count: `1`, enginetest.Import: `42`, enginetest.Uncaught: "access_denied", enginetest.Spin: "cancelled",
	} {
		t.Run(string(b), func(t *testing.T) {
			src, _ := pythontools.Write(b)
			p, err := e.Load(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			ctx, cancel := stopWhenSpinning(t, b)
			defer cancel()
			in := engine.Input{Input: json.RawMessage(`{"a":1,"b":2}`), Context: json.RawMessage(`{"kept":"k"}`)}
			out, err := p.Run(ctx, in, enginetest.NewMemory(nil).Host())
			if got := string(out.Output); err == nil && got != want || err != nil && !errors.Is(err, abi.Code(want)) {
				t.Errorf("Run = %s, %v; want %s", got, err, want)
			}
		})
	}
	src, _ := pythontools.Write(enginetest.Broken)
	if _, err := e.Load(t.Context(), src); !errors.Is(err, abi.SourceInvalid) {
		t.Errorf("Load = %v; want source_invalid", err)
	}
	top := engine.Source{Path: "tool.py", Code: []byte("print('top')\nmemory.get_content('x')\ndef main():\n    return 1\n")}
	p, err := e.Load(t.Context(), top)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Run(t.Context(), engine.Input{}, enginetest.NewMemory(nil).Host()); !errors.Is(err, abi.InvalidArgument) {
		t.Errorf("Run = %v; want invalid_argument", err)
	}
}

// stopWhenSpinning returns a context for a run of the Behaviour. If the Behaviour loops forever,
// the context ends soon.
func stopWhenSpinning(t *testing.T, b enginetest.Behaviour) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	if b == enginetest.Spin {
		time.AfterFunc(time.Second, cancel)
	}
	return ctx, cancel
}

// TestSnapshotIsTried checks that the engine tests its snapshot and detects a wrong entry point.
func TestSnapshotIsTried(t *testing.T) {
	e := newEngine(t)
	if _, err := e.Load(t.Context(), engine.Source{Path: "tool.py"}); err != nil {
		t.Fatal(err)
	}
	if err := python.Tried(e, 0); err != nil {
		t.Errorf("Tried with the right entry point = %v; want nil", err)
	}
	for _, shift := range []uint32{1, 2, 1 << 30} {
		if err := python.Tried(e, shift); err == nil {
			t.Errorf("Tried with an entry point shifted by %d = nil; want an error", shift)
		}
	}
}
