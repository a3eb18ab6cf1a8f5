package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// crashDB is the name of an environment variable. The variable contains the path of a database. If
// the variable is set, the test binary is the child process, which writes until it is killed.
const crashDB, crashMode = "TOOLRUN_TEST_CRASH_DB", "TOOLRUN_TEST_CRASH_MODE"

func TestMain(m *testing.M) {
	engines.Main()
	if path := os.Getenv(crashDB); path != "" {
		if err := crashChild(path, os.Getenv(crashMode)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const crashApp = `
app: crash
blocks: true
memory:
  left: {access: user, description: one side}
  right: {access: user, description: the other side}
tools:
  pair: {source: pair.js, description: writes both, grants: {left: readwrite, right: readwrite}, limits: {timeout: 60s}}
  count: {source: count.js, description: counts, grants: {left: readwrite}, limits: {timeout: 60s}}
`

// crashAgent is an agent. crashAgent writes a session variable and a fact, and calls a tool that
// writes two stores.
const crashAgent = `AGENT: Crash
MEMORY:
  session:
    - n
      INITIAL: 0
  persistent:
    - user.n
FLOW:
  go:
    REASONING: false
    SET:
      - n = n + 1
      - user.n = n
    CALL: pair(n)
    THEN: COMPLETE
`

// openCrash opens the database of the crash tests, and a host that uses this database.
func openCrash(path string, observers ...host.Observer) (*host.Host, func() error, error) {
	loaded, problems := app.Load(fstest.MapFS{
		"app.yaml":  {Data: []byte(crashApp)},
		"pair.js":   {Data: []byte(`await memory.set_content("left", {n: input.n}); await memory.set_content("right", {n: input.n}); return input.n`)},
		"crash.abl": {Data: []byte(crashAgent)},
		"count.js":  {Data: []byte(`const c = await memory.get_content("left"); await memory.set_content("left", {n: (c?.n ?? 0) + 1}); return (c?.n ?? 0) + 1`)},
	}, "app.yaml")
	if loaded == nil {
		return nil, nil, problems
	}
	db, err := bolt.Open(path, nil)
	if err != nil {
		return nil, nil, err
	}
	h, err := host.Open(context.Background(), host.Options{App: loaded, Backend: db, Engines: testEngines(), Observers: observers, SweepEvery: -1})
	if err != nil {
		return nil, nil, err
	}
	return h, func() error { return firstError(h.Close(), db.Close()) }, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

const crashWorkers = 4

// crashObserver prints a line on standard output when a run has made its first write. In the mode
// "hang", crashObserver blocks after a run has committed.
type crashObserver struct {
	host.NopObserver
	say  func(format string, args ...any)
	hang bool
}

func (o crashObserver) MemoryCalled(_ context.Context, run host.RunInfo, e host.CallEvent) {
	if string(e.Call.Arg(0)) == `"left"` && e.Call.Op == abi.SetContent {
		o.say("wrote %s %s", run.Caller.User, e.Call.Arg(1))
	}
}

func (o crashObserver) RunEnded(context.Context, host.RunInfo, *report.Result) {
	if o.hang {
		o.say("committed")
		select {}
	}
}

// crashChild is the main function of the child process. crashChild runs tools and prints its
// progress until the process is killed.
func crashChild(path, mode string) error {
	if mode == "pause" || strings.HasPrefix(mode, "approve ") {
		return crashApproval(path, mode)
	}
	if url, ok := strings.CutPrefix(mode, "reembed "); ok {
		return crashReembed(path, url)
	}
	if url, ok := strings.CutPrefix(mode, "paid "); ok {
		return crashPaid(path, url)
	}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	if mode == "collections" {
		return crashCollections(path, say)
	}
	h, _, err := openCrash(path, crashObserver{say: say, hang: mode == "hang"})
	if err != nil {
		return err
	}
	if mode == "hang" {
		_, err := h.Run(context.Background(), host.Invocation{Tool: "count", Caller: host.Caller{User: "ann"}, Key: "once"})
		return err
	}
	if mode == "blocks" {
		errs := make(chan error, blockWriters)
		for range blockWriters {
			go func() { errs <- crashBlocks(h, say) }()
		}
		return <-errs
	}
	errs := make(chan error, crashWorkers)
	for worker := range crashWorkers {
		work := crashWorker
		if mode == "turns" {
			work = crashTurns
		}
		go func() { errs <- work(h, fmt.Sprintf("user%d", worker), say) }()
	}
	return <-errs
}

func crashWorker(h *host.Host, user string, say func(string, ...any)) error {
	call := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"left"`)}}
	content, _, err := h.Stores().Do(context.Background(), host.Caller{User: user}, memory.Operator(), call)
	if err != nil {
		return err
	}
	var last struct{ N int }
	if err := json.Unmarshal(content, &last); err != nil {
		return err
	}
	for n := last.N + 1; ; n++ {
		input := json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
		if _, err := h.Run(context.Background(), host.Invocation{Tool: "pair", Caller: host.Caller{User: user}, Input: input}); err != nil {
			return err
		}
		say("ack %s {\"n\":%d}", user, n)
	}
}

// crashLog is the output of a child process, as far as the parent process has read it.
type crashLog struct {
	wrote, acked map[string]int
	acks         int
}

// startChild starts a child process that uses the given database.
func startChild(t *testing.T, path, mode string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDB+"="+path, crashMode+"="+mode)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// crashOnce starts a child process in the given mode, and kills the child as soon as a run has
// begun to write. Then it reads the rest of the child's output.
func crashOnce(t *testing.T, path, mode string, after int) crashLog {
	t.Helper()
	cmd, lines := startChild(t, path, mode)
	log := crashLog{wrote: map[string]int{}, acked: map[string]int{}}
	killed := false
	for lines.Scan() {
		var what, user string
		var doc struct{ N int }
		fields := strings.SplitN(lines.Text(), " ", 3)
		if len(fields) != 3 || json.Unmarshal([]byte(fields[2]), &doc) != nil {
			t.Fatalf("unexpected output of the child: %q", lines.Text())
		}
		what, user = fields[0], fields[1]
		if what == "ack" {
			log.acked[user], log.acks = doc.N, log.acks+1
			continue
		}
		log.wrote[user] = doc.N
		if !killed && log.acks >= after {
			killed = true
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	return log
}

// TestKilledRuns repeatedly kills a process while it writes. Acknowledged runs must not be lost,
// and no run may be stored partially.
func TestKilledRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crash.db")
	acks, between, kills := 0, 0, 0
	last, begun := map[string]int{}, map[string]int{}
	for acks < 1000 || between < 10 {
		log := crashOnce(t, path, "loop", 20+rand.IntN(100))
		kills++
		acks += log.acks
		h, closeAll, err := openCrash(path)
		if err != nil {
			t.Fatalf("the database does not open after kill %d: %v", kills, err)
		}
		for worker := range crashWorkers {
			user := fmt.Sprintf("user%d", worker)
			last[user] = max(last[user], log.acked[user])
			begun[user] = max(begun[user], log.wrote[user]) // an earlier child may have committed these writes
			left, right := readN(t, h, user, "left"), readN(t, h, user, "right")
			if left != right {
				t.Errorf("kill %d left the values %d and %d of one run; want equal values", kills, left, right)
			}
			if left < last[user] {
				t.Errorf("kill %d lost an acknowledged run: the value is %d; want at least %d", kills, left, last[user])
			}
			if left > begun[user] {
				t.Errorf("kill %d: the value is %d, which no run wrote", kills, left)
			}
			if log.wrote[user] > log.acked[user] {
				between++
			}
		}
		if err := closeAll(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d acknowledged runs, %d runs killed between their first write and their result: none lost, none half stored", kills, acks, between)
}

func readN(t *testing.T, h *host.Host, user, store string) int {
	t.Helper()
	call := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"` + store + `"`)}}
	content, _, err := h.Stores().Do(context.Background(), host.Caller{User: user}, memory.Operator(), call)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ N int }
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.N
}

// TestKilledAfterCommitAndRepeated kills a process when a run has committed but has not returned
// its result. Then the test repeats the run with the same idempotency key.
func TestKilledAfterCommitAndRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crash.db")
	cmd, lines := startChild(t, path, "hang")
	for lines.Scan() && lines.Text() != "committed" {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	h, closeAll, err := openCrash(path)
	if err != nil {
		t.Fatal(err)
	}
	result, err := h.Run(context.Background(), host.Invocation{Tool: "count", Caller: ann, Key: "once"})
	if err != nil || !result.Repeated || string(result.Output) != "1" {
		t.Errorf("the repeated run = %s, repeated %t, %v; want the result of the first one", result.Output, result.Repeated, err)
	}
	if n := readN(t, h, "ann", "left"); n != 1 {
		t.Errorf("the run was counted %d times; want 1", n)
	}
	if err := closeAll(); err != nil {
		t.Fatal(err)
	}
}

// TestCounterOnOneRecord increments one record in 120 concurrent runs. Each run reads the record
// before it writes. The number of runs is close to the limit of waiting runs for one user.
func TestCounterOnOneRecord(t *testing.T) {
	h, closeAll, err := openCrash(filepath.Join(t.TempDir(), "counter.db"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 120
	results := make([]*report.Result, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			results[i], _ = h.Run(context.Background(), host.Invocation{Tool: "count", Caller: ann, Timeout: time.Minute})
		})
	}
	wg.Wait()
	executions := 0
	for _, result := range results {
		executions += result.Attempts
		if !result.OK {
			t.Errorf("a run failed: %v", result.Error)
		}
	}
	if got := readN(t, h, "ann", "left"); got != n {
		t.Errorf("the counter is %d; want %d", got, n)
	}
	t.Logf("%d runs took %d executions", n, executions)
	if err := closeAll(); err != nil {
		t.Fatal(err)
	}
}
