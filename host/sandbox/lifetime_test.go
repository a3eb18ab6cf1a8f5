//go:build linux

package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
)

// children returns the child processes of this process that have not been reaped.
func children(t testing.TB) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(files) == 0 {
		t.Skip("this kernel has no /proc/self/task/*/children")
	}
	var pids []int
	for _, file := range files {
		text, _ := os.ReadFile(file) // if the thread has ended, the read fails
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func descriptors(t testing.TB) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// TestKilledAtEveryCall executes several runs and kills the worker of each run. The worker is
// killed before the run or at one of the memory calls. The run must end at once. The fault of the
// run must contain the cause. The next run after this run must succeed.
func TestKilledAtEveryCall(t *testing.T) {
	b := newBench(t, sandbox.Options{Spares: -1})
	code := `for (let i = 0; i < 4; i++) await memory.set_content("counter", {i}); return "done";`
	program, err := b.pool.Engines()[javaScript].Load(t.Context(), engine.Source{Path: "count.js", Code: []byte(code)})
	if err != nil {
		t.Fatal(err)
	}
	for at := range 6 {
		n := 0
		host := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) {
			if n++; n == at {
				killAll(t)
			}
			return json.RawMessage(`{"success":true}`), nil
		}}
		if at == 0 {
			killAll(t)
		}
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		out, err := program.Run(ctx, engine.Input{}, host)
		cancel()
		if at == 0 || at == 5 { // no worker dies during the first and last run
			if string(out.Output) != `"done"` {
				t.Errorf("killed at %d: Run = %s, %v; want done", at, out.Output, err)
			}
			continue
		}
		if codeOf(err) != abi.MemoryLimit || n != at {
			t.Errorf("killed at call %d: Run = %v after %d calls; want memory_limit, and no further call", at, err, n)
		}
	}
}

func killAll(t testing.TB) {
	for _, pid := range children(t) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		waitFor(t, fd)
		unix.Close(fd)
	}
}

// waitFor waits until a given process has exited.
func waitFor(t testing.TB, pidfd int) {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(enough.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			t.Fatalf("the process is still running: %v", err)
		}
		return
	}
}

// TestNothingIsLeft ends runs in all possible ways. Then it closes the pool. After Close, no
// processes and no open descriptors of the pool may remain.
func TestNothingIsLeft(t *testing.T) {
	before, fds := len(children(t)), descriptors(t)
	b := newBench(t, sandbox.Options{Workers: 3})
	for _, act := range []string{"answer", "spin", "swell", "crash", "answer", "exit", "say"} {
		_, _ = b.run(t, act, "\xff\xff\xff\xff\x01", engine.Input{}, short, engine.Host{})
	}
	if err := errors.Join(b.pool.Close(), b.pool.Close()); err != nil {
		t.Fatal(err)
	}
	if got := len(children(t)); got != before {
		t.Errorf("%d processes are left; want %d", got, before)
	}
	if got := descriptors(t); got > fds {
		t.Errorf("%d descriptors are left; want %d", got, fds)
	}
	program, err := b.pool.Engines()[probing].Load(t.Context(), engine.Source{Path: "act.probe", Code: []byte("answer")})
	if codeOf(err) != abi.Unavailable {
		t.Errorf("Load after Close = %v, %v; want unavailable", program, err)
	}
}

// TestCloseUnderWay calls Close while runs are active. Close must end these runs.
func TestCloseUnderWay(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	program := b.load(t, "call", "")
	host := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) {
		go b.pool.Close()
		return json.RawMessage("null"), nil
	}}
	for range 1000 { // the run can end before the call of Close
		if _, err := perform(t, program, "", engine.Input{}, enough, host); err != nil {
			if codeOf(err) != abi.Unavailable {
				t.Errorf("Run = %v; want unavailable", err)
			}
			return
		}
	}
	t.Error("no run was ended")
}

// TestMixed runs good and bad guests concurrently.
func TestMixed(t *testing.T) {
	b := newBench(t, sandbox.Options{Workers: 4})
	acts := map[string]abi.Code{"answer": "", "spin": abi.Timeout, "swell": abi.MemoryLimit, "nest": abi.StackLimit, "call": ""}
	host := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) { return json.RawMessage("null"), nil }}
	var group sync.WaitGroup
	for act, want := range acts {
		program := b.load(t, act, "")
		for range 2 {
			group.Go(func() {
				for range 3 {
					limit := enough
					if want == abi.Timeout {
						limit = short
					}
					// The wait for a worker counts toward the deadline of a run. Therefore a short
					// deadline can pass while other runs use the workers.
					if _, err := perform(t, program, "", roomy, limit, host); codeOf(err) != want {
						t.Errorf("%s: Run = %v; want %q", act, err, want)
					}
				}
			})
		}
	}
	group.Wait()
}

// asParent is an environment variable. If it is set, this process is the child process that
// TestParentDies starts. The child process creates a pool and runs a guest that never ends.
const asParent = "TOOLRUN_TEST_PARENT"

func init() {
	if os.Getenv(asParent) == "" {
		return
	}
	sandbox.Main(languages...) // Main must be called before New
	pool, err := sandbox.New(sandbox.Options{Languages: languages})
	if err != nil {
		panic(err)
	}
	program, err := pool.Engines()[probing].Load(context.Background(), engine.Source{Path: "act.probe", Code: []byte("call and spin")})
	if err != nil {
		panic(err)
	}
	host := engine.Host{Call: func(context.Context, abi.Call) (json.RawMessage, error) {
		files, _ := filepath.Glob("/proc/self/task/*/children")
		for _, file := range files {
			text, _ := os.ReadFile(file)
			fmt.Print(string(text))
		}
		fmt.Println()
		return nil, nil
	}}
	_, _ = program.Run(context.Background(), engine.Input{Input: json.RawMessage("{}")}, host)
	os.Exit(0)
}

// TestParentDies kills the parent while a guest runs an endless loop. No worker may survive.
func TestParentDies(t *testing.T) {
	children(t) // skips if unsupported
	parent := exec.Command(os.Args[0], "-test.run=^$")
	parent.Env = append(os.Environ(), asParent+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var workers []int
	for _, field := range strings.Fields(line) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatalf("the worker %d: %v", pid, err)
		}
		defer unix.Close(fd)
		workers = append(workers, fd)
	}
	if len(workers) == 0 {
		t.Fatal("the parent started no worker")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for _, fd := range workers {
		waitFor(t, fd)
	}
}
