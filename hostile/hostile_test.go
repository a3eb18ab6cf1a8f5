package main

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/engine/python/distribution/disttest"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/hostile/baseline"
	"github.com/toolrun/toolrun/hostile/corpus"
)

//go:embed known.txt
var knownText string

// known returns the cases in which toolrun is known to fail.
func known() map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(knownText) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); name != "" && name != "#" {
			names[name] = true
		}
	}
	return names
}

// builtDir is the folder of the built programs. TestMain creates and removes the folder.
var builtDir string

// built is a function that builds toolrun once for all tests.
var built = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(builtDir, "toolrun")
	return binary, buildToolrun(context.Background(), binary)
})

// newTestEnv builds toolrun without the race detector, because the race detector would distort
// memory figures.
func newTestEnv(t *testing.T) *env {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the corpus requires Linux: it reads the state of processes from /proc")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command, which builds toolrun, is missing")
	}
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newEnv(t.Context(), binary, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	w.grace = 10 * time.Second
	return w
}

func allCases(t *testing.T) []corpus.Case {
	t.Helper()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCorpus(t *testing.T) {
	cases := slices.DeleteFunc(allCases(t), corpus.Case.Python)
	if os.Getenv("TOOLRUN_SOAK") == "" {
		cases = ofEachKind(cases)
	}
	testCorpus(t, newTestEnv(t), cases)
}

// ofEachKind returns every third case of each kind of attack: the first, the fourth, the seventh,
// and so on. The commands "make hostile" and "make soak" run all cases.
func ofEachKind(cases []corpus.Case) (some []corpus.Case) {
	of := map[string]int{}
	for _, c := range cases {
		kind := path.Dir(c.Name)
		if of[kind]++; of[kind]%3 == 1 {
			some = append(some, c)
		}
	}
	return some
}

// TestEachKindIsRun checks that the selection contains a case of every kind of attack.
func TestEachKindIsRun(t *testing.T) {
	cases := slices.DeleteFunc(allCases(t), corpus.Case.Python)
	kinds := map[string]bool{}
	some := ofEachKind(cases)
	for _, c := range some {
		kinds[path.Dir(c.Name)] = true
	}
	for _, c := range cases {
		if !kinds[path.Dir(c.Name)] {
			t.Errorf("no case of the kind %s is run", path.Dir(c.Name))
		}
	}
	t.Logf("the selection contains %d of %d cases, of %d kinds", len(some), len(cases), len(kinds))
}

func TestCorpusInPython(t *testing.T) {
	w := newTestEnv(t)
	if err := w.usePython(t.Context(), disttest.File(t)); err != nil {
		t.Fatal(err)
	}
	python := slices.DeleteFunc(allCases(t), func(c corpus.Case) bool { return !c.Python() })
	if os.Getenv("TOOLRUN_SOAK") == "" {
		python = sixth(python)
	}
	testCorpus(t, w, python)
}

// sixth returns a sixth of the cases. More cases would take too long, because the interpreter
// starts slowly. The command "make hostile" runs all cases.
func sixth(cases []corpus.Case) (some []corpus.Case) {
	for i := 0; i < len(cases); i += 6 {
		some = append(some, cases[i])
	}
	return some
}

func testCorpus(t *testing.T, w *env, cases []corpus.Case) {
	r := &runner{env: w, workers: runtime.NumCPU(), toolrun: true}
	report, err := r.run(t.Context(), cases)
	if err != nil {
		t.Fatal(err)
	}
	expected := known()
	for _, c := range allCases(t) {
		if !slices.ContainsFunc(cases, func(run corpus.Case) bool { return run.Name == c.Name }) {
			delete(expected, c.Name) // another test runs the skipped case
		}
	}
	for _, o := range report.Cases {
		if o.Toolrun == nil {
			continue
		}
		failed := len(o.Toolrun.Problems) > 0
		switch {
		case failed && !expected[o.Name]:
			t.Errorf("%s: %s\n  %s", o.Name, o.Mechanism, strings.Join(o.Toolrun.Problems, "\n  "))
		case !failed && expected[o.Name]:
			t.Errorf("%s passes; remove it from known.txt", o.Name)
		}
		delete(expected, o.Name)
	}
	for name := range expected {
		t.Errorf("known.txt contains %s, which was not run", name)
	}
	if n := report.counts(); n.growth > maxGrowth {
		t.Errorf("in %[2]s, the host used %[1]d MiB more than in a benign run; want at most %[3]d", n.growth>>20, n.largest, maxGrowth>>20)
	}
	if report.KilledStrays > 0 {
		t.Errorf("kill -9 of the host left %d processes behind", report.KilledStrays)
	}
}

// TestEachLayerOff disables each isolation layer in turn. The host must survive, and stored data
// must not change.
func TestEachLayerOff(t *testing.T) {
	r := runner{env: newTestEnv(t), workers: runtime.NumCPU(), toolrun: true}
	cases := runnable(t, r.env, crossSection(t))
	for _, layer := range sandbox.Layers()[1:] { // the first layer is the process itself, which cannot be disabled
		if slices.ContainsFunc(cases, corpus.Case.Python) { // the previous run can damage the cache
			if err := r.env.usePython(t.Context(), r.env.python); err != nil {
				t.Fatal(err)
			}
		}
		report, err := r.without(layer).run(t.Context(), cases)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range report.Cases {
			if len(o.Toolrun.Problems) > 0 {
				t.Errorf("without %s: %s: %s\n  %s", layer, o.Name, o.Mechanism, strings.Join(o.Toolrun.Problems, "\n  "))
			}
		}
		if report.KilledStrays > 0 {
			t.Errorf("without %s: kill -9 of the host left %d processes behind", layer, report.KilledStrays)
		}
	}
}

// runnable returns the cases that can run, and prepares the Python interpreter if a case requires
// it. If no interpreter exists, runnable returns only the cases that do not require Python.
func runnable(t *testing.T, w *env, cases []corpus.Case) []corpus.Case {
	t.Helper()
	if !slices.ContainsFunc(cases, corpus.Case.Python) {
		return cases
	}
	file, err := w.findPython(t.Context())
	if err == nil && file != "" {
		err = w.usePython(t.Context(), file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if file != "" {
		return cases
	}
	t.Log("without tools in Python: toolrun has no interpreter")
	return slices.DeleteFunc(cases, corpus.Case.Python)
}

// crossSection selects every fourth kind of attack and returns one case of each selected kind.
// Because Python starts slowly, crossSection returns no Python cases. In a soak test, crossSection
// returns all cases.
func crossSection(t *testing.T) []corpus.Case {
	all := allCases(t)
	if os.Getenv("TOOLRUN_SOAK") != "" {
		return all
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(c corpus.Case) bool {
		kind := path.Dir(c.Name)
		if seen[kind] || c.Timeout > corpus.ShortTimeout && !c.NeedsIsolation && !c.Python() {
			return true
		}
		seen[kind] = true
		return c.Python() || len(seen)%4 != 0
	})
}

// TestBaselineHost runs one case for each kind of outcome. The baseline host must report the
// outcome of the case.
func TestBaselineHost(t *testing.T) {
	w := newTestEnv(t)
	w.self = filepath.Join(w.dir, "hostile")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", w.self, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the baseline host: %v\n%s", err, out)
	}
	want := map[string]baseline.End{
		"wasm/cpu/empty_loop":         baseline.Hung,
		"js/boundary/getter_throws":   baseline.Died,
		"js/store/write_then_throw":   baseline.Corrupt,
		"app/source/import_outside":   baseline.Corrupt,
		"js/boundary/cycle":           baseline.Fine,
		"wasm/pointer/output_beyond":  baseline.Fine,
		"app/schema/refers_to_itself": baseline.Fine,
	}
	if _, err := exec.LookPath("python3"); err == nil {
		want["py/cpu/empty_loop"] = baseline.Hung
		want["py/bytecode/constant_beyond"] = baseline.Died
		want["py/boundary/write_then_fail"] = baseline.Corrupt
		want["py/boundary/not_data"] = baseline.Fine
	} else {
		t.Log("python3 is missing; the baseline host runs no tools in Python")
	}
	for _, c := range allCases(t) {
		if want[c.Name] == baseline.None {
			continue
		}
		l, err := w.layOut(c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.runBaseline(t.Context(), l); err != nil || got != want[c.Name] {
			t.Errorf("%s with the baseline host = %q, %v; want %q", c.Name, got, err, want[c.Name])
		}
		delete(want, c.Name)
	}
	for name := range want {
		t.Errorf("unknown case %s", name)
	}
}

func TestStraysAreFound(t *testing.T) {
	w := newTestEnv(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("the command sleep is missing")
	}
	// The shell exits but its child process continues. The child process does not inherit the open
	// files of the shell.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", sleep+" 60 </dev/null >/dev/null 2>&1 &")
	if _, err := w.procs.execute(cmd, w.grace); err != nil {
		t.Fatal(err)
	}
	if n := w.procs.strays(); n != 1 {
		t.Errorf("strays = %d; want 1", n)
	}
}
