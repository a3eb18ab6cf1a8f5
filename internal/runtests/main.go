// Command runtests runs the tests of every module of the repository. If a C compiler is installed,
// the tests run with the race detector. The last lines of the output list the skipped tests and
// contain the numbers of tests. With the flag -fuzz, runtests runs every fuzz target instead. Run
// runtests in the root of the repository.
//
// If TOOLRUN_NO_SKIP is set, a skipped test counts as a failure.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

func main() {
	fuzz := flag.String("fuzz", "", "instead of the tests, run each fuzz target for this duration")
	flag.Parse()
	if err := run(*fuzz); err != nil {
		fmt.Fprintln(os.Stderr, "runtests:", err)
		os.Exit(1)
	}
}

func run(fuzz string) error {
	folders, err := modules(".")
	if err != nil {
		return fmt.Errorf("list modules: %w", err)
	}
	if fuzz != "" {
		return fuzzAll(folders, fuzz)
	}
	all, err := jobs(folders)
	if err != nil {
		return fmt.Errorf("list packages: %w", err)
	}
	for _, j := range all {
		j.compile()
	}
	var sum summary
	err = sum.runAll(schedule(all))
	sum.skipCompiler()
	return sum.close(err)
}

// withoutRace lists folders whose tests run without the race detector, for one of the following
// reasons:
//
//   - They compile much WebAssembly, which takes ten times as long with the detector. The target
//     soak of the Makefile runs these tests with it.
//   - They limit the memory of processes, and the detector needs ten times as much memory.
//   - They have large dependencies, which would be compiled a second time.
//   - They parse text, start no goroutines and have no shared state.
//   - They use one goroutine that reads the source tree, or that starts compilers, Node.js, Python
//     and shells.
var withoutRace = []string{
	"/host/agent/abl/", "/host/machine/",
	"/internal/wasm/fuel", "/internal/wasm/binary", "/abi/guest/", "/plugins/examples", "/host/engines/", "/host/engine/python/", "/host/extract/",
	"/hostile/", "/host/sandbox/",
	"/sdk/temporal/",
	"/docs/", "/internal/arch/", "/internal/bindgen/", "/internal/words/", "/sdk/js/", "/sdk/python-wasm/", "/sdk/python/",
}

// packages returns the packages of a module in two lists: packages whose tests run with the race
// detector, and packages whose tests run without it.
func packages(folder string) (raced, plain []string, err error) {
	all, err := list(folder)
	if err != nil {
		return nil, nil, err
	}
	for _, pkg := range all {
		if slices.ContainsFunc(withoutRace, func(folder string) bool { return strings.Contains(pkg+"/", folder) }) {
			plain = append(plain, pkg)
		} else {
			raced = append(raced, pkg)
		}
	}
	return raced, plain, nil
}

// run runs a job. run is safe for concurrent use.
func (s *summary) run(j job) error {
	cmd := j.command()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		s.add(lines.Bytes())
	}
	return cmd.Wait()
}

func compilerFound() bool {
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		return false
	}
	_, err = exec.LookPath(strings.TrimSpace(string(cc)))
	return err == nil
}

// event is an event of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// summary counts the tests. summary keeps the output of running tests, because it prints that
// output if they fail.
type summary struct {
	mu             sync.Mutex // guards the following fields while jobs run
	passed, failed int
	skipped        []string
	times          []testTime
	output         map[string][]string
}

func (s *summary) add(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Println(string(line)) // the output of the go command itself, such as a build error
		return
	}
	name := e.Package + "." + e.Test
	switch e.Action {
	case "output", "build-output":
		if s.output == nil {
			s.output = map[string][]string{}
		}
		s.output[name] = append(s.output[name], e.Output)
		return
	case "fail", "build-fail":
		fmt.Print(strings.Join(s.output[name], ""))
	}
	if e.Test == "" {
		s.addPackage(e)
	} else {
		s.addTest(e, name)
	}
}

func (s *summary) addPackage(e event) {
	if e.Action == "pass" || e.Action == "fail" {
		fmt.Printf("%-4s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
	}
}

// testTime is the duration of a test in seconds. Other tests may run at the same time.
type testTime struct {
	name    string
	seconds float64
}

// mostNamed is the number of slowest tests that the summary lists.
const mostNamed = 20

func (s *summary) printSlowest() {
	slices.SortFunc(s.times, func(a, b testTime) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, t := range s.times[:min(mostNamed, len(s.times))] {
		fmt.Printf("slow %s %.1fs\n", t.name, t.seconds)
	}
}

func (s *summary) addTest(e event, name string) {
	if !strings.Contains(e.Test, "/") {
		s.times = append(s.times, testTime{name, e.Elapsed})
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
	case "skip":
		s.skipped = append(s.skipped, e.Test+skipReason(s.output[name]))
	default:
		return
	}
	delete(s.output, name)
}

// skipReason returns the last line in the output of a skipped test that does not come from the go
// command.
func skipReason(output []string) string {
	for _, line := range slices.Backward(output) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "---") || strings.HasPrefix(text, "===") {
			continue
		}
		if _, reason, ok := strings.Cut(text, ": "); ok {
			text = reason
		}
		return " (" + text + ")"
	}
	return ""
}

func (s *summary) skipCompiler() {
	if !compilerFound() {
		s.skipped = append(s.skipped, "race detector (no C compiler)")
	}
}

func (s *summary) close(testErr error) error {
	s.printSlowest()
	if len(s.skipped) > 0 {
		fmt.Println("skipped:", strings.Join(s.skipped, ", "))
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", s.passed, s.failed, len(s.skipped))
	if testErr != nil {
		return fmt.Errorf("go test: %w", testErr)
	}
	if len(s.skipped) > 0 && os.Getenv("TOOLRUN_NO_SKIP") != "" {
		return fmt.Errorf("%d tests were skipped, but TOOLRUN_NO_SKIP is set", len(s.skipped))
	}
	return nil
}
