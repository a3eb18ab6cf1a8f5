package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/engine/js"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// openGatedCrash opens the database of a crash test. The tool of the test increments a count, and
// each write of the tool requires an approval. The clock of the host is ahead of the real time by
// the given duration.
func openGatedCrash(path string, ahead time.Duration, observers ...host.Observer) (*host.Host, func() error, error) {
	loaded, problems := app.Load(fstest.MapFS{
		"app.yaml": {Data: []byte("app: crash\nmemory:\n  left: {access: user, description: a counter}\n" +
			"tools:\n  count: {source: count.js, description: counts, grants: {left: readwrite}, limits: {timeout: 60s}, approval: {before: [set_content]}}\n")},
		"count.js": {Data: []byte(`const c = await memory.get_content("left"); await memory.set_content("left", {n: (c?.n ?? 0) + 1, at: Date.now()}); return (c?.n ?? 0) + 1`)},
	}, "app.yaml")
	if loaded == nil {
		return nil, nil, problems
	}
	db, err := bolt.Open(path, nil)
	if err != nil {
		return nil, nil, err
	}
	h, err := host.Open(context.Background(), host.Options{
		App: loaded, Backend: db, Engines: testEngines(), Observers: observers, SweepEvery: -1, Now: func() time.Time { return time.Now().Add(ahead) },
	})
	if err != nil {
		return nil, nil, err
	}
	return h, func() error { return firstError(h.Close(), db.Close()) }, nil
}

// afterRunFunc is called after a tool has been executed and before the run commits.
type afterRunFunc struct {
	host.NopObserver
	call func()
}

func (f afterRunFunc) AfterRun(context.Context, host.RunInfo, json.RawMessage, host.Memory) error {
	f.call()
	return nil
}

// hangingObserver blocks before the commit of a run.
type hangingObserver struct{ host.NopObserver }

func (hangingObserver) AfterRun(context.Context, host.RunInfo, json.RawMessage, host.Memory) error {
	fmt.Println("executed")
	select {}
}

// crashApproval is the child process of TestKilledWhilePaused. In the mode "pause", crashApproval
// runs the tool. In the mode "approve TOKEN", crashApproval approves an effect, and hangs before
// the commit.
func crashApproval(path, mode string) error {
	var observers []host.Observer
	if mode != "pause" {
		observers = append(observers, hangingObserver{})
	}
	h, _, err := openGatedCrash(path, 0, observers...)
	if err != nil {
		return err
	}
	if token, ok := strings.CutPrefix(mode, "approve "); ok {
		_, err := h.Approvals().Approve(context.Background(), approver, token)
		return err
	}
	result, err := h.Run(context.Background(), host.Invocation{Tool: "count", Caller: ann, Key: "once"})
	if err != nil {
		return err
	}
	fmt.Println("paused", result.Approval.Token)
	select {}
}

// killAt starts a child process, and kills it when it has written a line that begins with the given
// prefix. killAt returns the rest of this line.
func killAt(t *testing.T, path, mode, prefix string) string {
	t.Helper()
	cmd, lines := startChild(t, path, mode)
	rest, found := "", false
	for !found && lines.Scan() {
		rest, found = strings.CutPrefix(lines.Text(), prefix)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if !found {
		t.Fatalf("the child ended before %q", prefix)
	}
	return strings.TrimSpace(rest)
}

// TestKilledWhilePaused kills a process while a run is paused. After the approval, the test kills
// the process that executes the approved run. After both kills, the run must complete, and the
// effect of the run must happen once.
func TestKilledWhilePaused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crash.db")
	token := killAt(t, path, "pause", "paused")
	killAt(t, path, "approve "+token, "executed")

	h, closeAll, err := openGatedCrash(path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := h.Approvals().Get(t.Context(), approver, token); err != nil || found.State != approval.Approved {
		t.Errorf("Get = %+v, %v; want an approved request", found, err)
	}
	if err := closeAll(); err != nil {
		t.Fatal(err)
	}
	h, closeAll, err = openGatedCrash(path, 3*time.Minute) // as if the killed process's lease had expired
	if err != nil {
		t.Fatal(err)
	}
	if n := readN(t, h, "ann", "left"); n != 0 {
		t.Errorf("before the second approval, the counter is %d", n)
	}
	result, err := h.Approvals().Approve(t.Context(), approver, token)
	if err != nil || result.Status != report.Completed || string(result.Output) != "1" {
		t.Errorf("Approve = %+v, %v", result, err)
	}
	if again, err := h.Run(t.Context(), host.Invocation{Tool: "count", Caller: ann, Key: "once"}); err != nil || !again.Repeated || string(again.Output) != "1" {
		t.Errorf("the same key = %+v, %v", again, err)
	}
	if n := readN(t, h, "ann", "left"); n != 1 {
		t.Errorf("the counter is %d; want 1", n)
	}
	if err := closeAll(); err != nil {
		t.Fatal(err)
	}
}

// If a process that executes an approved run is suspended, a second process executes the run. If
// two processes execute the same run, only one process must commit.
func TestTwoExecutionsOfApprovedRun(t *testing.T) {
	g := newGated(t, mem.New())
	pending := g.pause(host.Invocation{Tool: "own", Input: json.RawMessage(`{"n":1}`)})
	g.afterRun = func() {
		g.afterRun = nil
		g.pass(3 * time.Minute)
		g.approve(pending.Token, report.Completed)
	}
	if result, err := g.Approvals().Approve(t.Context(), approver, pending.Token); err == nil || result.Error.Code != abi.Conflict {
		t.Errorf("the slow execution = %+v, %v; want a conflict", result, err)
	}
	call := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"orders"`)}}
	if _, effects, err := g.Stores().Do(t.Context(), ann, memory.Operator(), call); err != nil || effects.Reads[0].Revision != 1 {
		t.Errorf("the record has the effects %+v, %v; want the revision 1", effects, err)
	}
}

// If an approved run takes longer than its lease, the lease is renewed. Therefore the run is
// executed only once. After the run, the state of the request is "approved".
func TestLongApprovedRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		executions, slow := 0, func() {}
		h := openApp(t, fstest.MapFS{
			"app.yaml": {Data: []byte("app: shop\nmemory:\n  orders: {access: user, description: what was bought}\n" +
				"tools:\n  buy: {source: buy.js, description: buys, limits: {timeout: 3m}, grants: {orders: readwrite}, approval: {before: [set_content]}}\n")},
			"buy.js": {Data: []byte(`await memory.set_content("orders", {n: 1})`)},
		}, func(o *host.Options) {
			o.Engines = []engine.Engine{js.New()} // an engine without processes, because a process is outside the bubble
			o.Observers = []host.Observer{afterRunFunc{call: func() { executions++; slow() }}}
		})
		paused, err := run(h, host.Invocation{Tool: "buy", Caller: ann})
		if err != nil || paused.Approval == nil {
			t.Fatalf("Run = %+v, %v; want a paused run", paused, err)
		}
		token := paused.Approval.Token
		slow = func() {
			for range 5 {
				time.Sleep(30 * time.Second) // in the bubble
				if _, err := h.Approvals().Approve(t.Context(), approver, token); !errors.Is(err, abi.Conflict) {
					t.Errorf("a second approval during the run = %v; want a conflict", err)
				}
			}
		}
		result, err := h.Approvals().Approve(t.Context(), approver, token)
		if err != nil || result.Status != report.Completed || executions != 1 {
			t.Errorf("Approve = %+v, %v, after %d executions; want one", result, err, executions)
		}
		if found, err := h.Approvals().Get(t.Context(), approver, token); err != nil || found.State != approval.Approved {
			t.Errorf("afterwards, the request is %+v, %v; want an approved one", found, err)
		}
	})
}
