package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/sandbox"
)

// workerPool returns the worker pool. All tests that isolate their tools share this pool.
var workerPool = sync.OnceValue(func() *sandbox.Pool {
	pool, err := engines.NewPool(sandbox.Options{})
	if err != nil {
		panic(err)
	}
	return pool
})

// testEngines returns the engines that tests pass to their hosts.
var testEngines = func() []engine.Engine { return workerPool().Engines() }

// everywhere runs a test twice. In one of the runs, tools run in workers, and in the other, tools
// run in this process.
func everywhere(t *testing.T, test func(*testing.T)) {
	t.Run("in workers", test)
	t.Run("in process", func(t *testing.T) {
		isolated := testEngines
		defer func() { testEngines = isolated }()
		testEngines = func() []engine.Engine { return engines.InProcess() }
		test(t)
	})
}

func TestWarningAboutIsolation(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		result, err := run(openTool(t, `let n = 0; for (let i = 0; i < 1e5; i++) n += i; return n`), host.Invocation{})
		if err != nil {
			t.Fatal(err)
		}
		warned := len(result.Warnings) == 1 && result.Warnings[0] == host.InProcessWarning
		if isolated := strings.HasSuffix(t.Name(), "in_workers"); warned == isolated || len(result.Warnings) > 1 {
			t.Errorf("warnings = %q", result.Warnings)
		}
		if result.Usage.CPUMS <= 0 {
			t.Errorf("the run took %v ms of processor time", result.Usage.CPUMS)
		}
	})
}

// killer is an observer. When a run makes its n-th memory call, killer kills all workers of this
// process.
type killer struct {
	host.NopObserver
	t    *testing.T
	left int
}

func (k *killer) MemoryCalled(context.Context, host.RunInfo, host.CallEvent) {
	if k.left--; k.left != 0 {
		return
	}
	killed := 0
	for _, pid := range workersOf(k.t, os.Getpid()) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		k.t.Error("no worker to kill")
	}
}

// workersOf returns the process ids of the workers that a process has started.
func workersOf(t *testing.T, parent int) (pids []int) {
	lists, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(parent), "task/*/children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // if the thread has ended, the file is empty
		for child := range bytes.FieldsSeq(text) {
			command, _ := os.ReadFile(filepath.Join("/proc", string(child), "cmdline"))
			if pid, err := strconv.Atoi(string(child)); err == nil && bytes.Contains(command, []byte("\x00worker\x00--serve")) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// TestKilledWorkers makes several runs. TestKilledWorkers kills the workers during the first memory
// call of the first run, during the second memory call of the second run, and so on. Each of these
// runs must fail and store nothing. After each of them, another run must succeed.
func TestKilledWorkers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lists the child processes of this one")
	}
	const calls = 6
	for at := 1; at <= calls; at++ {
		k := &killer{t: t, left: at}
		h := openTool(t, `
			const notes = await memory.get_content("notes");
			await memory.set_content("notes", {n: input.n});
			await memory.set_content("totals", {n: input.n});
			await memory.delete_content("notes");
			await memory.set_content("notes", {n: input.n, again: true});
			return [notes, await memory.get_content("totals")][0];`, func(o *host.Options) { o.Observers = []host.Observer{k} })
		result, err := run(h, host.Invocation{Input: json.RawMessage(`{"n":1}`)})
		if err == nil || len(result.Effects.Writes) > 0 {
			t.Errorf("killed at call %d: %+v; want a fault and no writes", at, result)
		}
		for _, store := range []string{"notes", "totals"} {
			call := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"` + store + `"`)}}
			if content, _, err := h.Stores().Do(t.Context(), ann, memory.Operator(), call); err != nil || string(content) != "null" {
				t.Errorf("killed at call %d: %s contains %s, %v; want nothing", at, store, content, err)
			}
		}
		if result, err := run(h, host.Invocation{Input: json.RawMessage(`{"n":2}`)}); err != nil || string(result.Output) != "null" {
			t.Errorf("after a worker was killed at call %d: %s, %v; want null", at, result.Output, err)
		}
	}
}

// TestCompilationContinues checks that a run does not wait for a slow compilation longer than the
// timeout of the run. The tool must nevertheless be compiled only once.
func TestCompilationContinues(t *testing.T) {
	slow := &slowEngine{begun: make(chan struct{}, 10), release: make(chan struct{})}
	h := openTool(t, ``, func(o *host.Options) { o.Engines = []engine.Engine{slow} })
	if _, err := run(h, host.Invocation{Timeout: 10 * time.Millisecond}); !errors.Is(err, abi.Timeout) {
		t.Errorf("a run that waits for the compiler = %v; want a timeout", err)
	}
	close(slow.release)
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.SourceInvalid) {
		t.Errorf("the next run = %v; want the compiler's error", err)
	}
	if _, err := run(h, host.Invocation{}); !errors.Is(err, abi.SourceInvalid) || len(slow.begun) != 1 {
		t.Errorf("a third run = %v after %d compilations; want the same error after 1", err, len(slow.begun))
	}
}

// slowEngine is an engine. A compilation by slowEngine blocks until the channel "release" is
// closed, and then fails.
type slowEngine struct{ begun, release chan struct{} }

func (*slowEngine) Info() engine.Info { return engine.Info{Name: "slow", Extensions: []string{".js"}} }

func (s *slowEngine) Load(ctx context.Context, _ engine.Source) (engine.Program, error) {
	s.begun <- struct{}{}
	select {
	case <-s.release:
		return nil, abi.Faultf(abi.SourceInvalid, "it does not compile")
	case <-ctx.Done():
		return nil, engine.FaultFromContext(ctx)
	}
}
