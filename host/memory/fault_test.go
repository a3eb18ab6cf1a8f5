package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

// faultyRun is a run that the test executes many times. In each execution, one operation of the
// backend fails, and each operation can fail in several ways.
type faultyRun struct {
	name  string
	tx    memory.Tx
	calls []abi.Call
	// The fields "before" and "after" contain the contents of the stores "notes", "flags" and
	// "daily". If the run is not stored, the contents must be equal to "before". If the run is
	// stored, the contents must be equal to "after".
	before, after string
	// If conflict is true, another run changes records that this run has read. Therefore this run
	// is executed a second time.
	conflict bool
}

var faultyRuns = []faultyRun{
	{
		name: "reads and writes", tx: memory.Tx{Caller: partition.Caller{Tenant: "acme", User: "ann", Session: "s9", Run: "faulty"}, Authority: memory.Operator()},
		calls: []abi.Call{
			call(abi.GetContent, `"notes"`), call(abi.SetContent, `"notes"`, `{"n":2}`),
			call(abi.SetContent, `"flags"`, `{"n":2}`), call(abi.DeleteContent, `"daily"`),
		},
		before: `{"n":1} {"n":1} {"n":1}`, after: `{"n":2} {"n":2} null`,
	},
	{
		name: "meets another", tx: memory.Tx{Caller: partition.Caller{Tenant: "acme", User: "ann", Run: "faulty"}, Authority: memory.Operator()},
		calls: []abi.Call{
			call(abi.GetContent, `"flags"`), call(abi.SetContent, `"notes"`, `{"n":2}`), call(abi.SetContent, `"flags"`, `{"n":2}`),
		},
		before: `{"n":1} {"n":1} {"n":1}`, after: `{"n":2} {"n":2,"other":1} {"n":1}`, conflict: true,
	},
	{
		name: "only deletes", tx: memory.Tx{Caller: partition.Caller{Tenant: "acme", User: "ann", Run: "faulty"}, Authority: memory.Operator()},
		calls:  []abi.Call{call(abi.DeleteContent, `"notes"`), call(abi.DeleteContent, `"flags"`)},
		before: `{"n":1} {"n":1} {"n":1}`, after: `null null {"n":1}`,
	},
	{
		name: "with a key", tx: memory.Tx{
			Caller: partition.Caller{Tenant: "acme", User: "ann", Run: "faulty"}, Authority: memory.Operator(), Key: "k", Fingerprint: "f",
			Answer: func(report.Effects) ([]byte, error) { return json.RawMessage(`1`), nil },
		},
		calls:  []abi.Call{call(abi.SetContent, `"notes"`, `{"n":2}`), call(abi.SetContent, `"flags"`, `{"n":2}`)},
		before: `{"n":1} {"n":1} {"n":1}`, after: `{"n":2} {"n":2} {"n":1}`,
	},
}

// TestEveryOperationFails executes runs in which one operation of the backend fails. Either all
// writes of a run are stored, or none is stored. If the outcome is known, the fault must report
// whether the writes were stored. The fault must not contain text from the backend.
func TestEveryOperationFails(t *testing.T) {
	outcomes := map[string]int{}
	for _, run := range faultyRuns {
		for _, how := range storagetest.Failures {
			for n := 1; ; n++ {
				reached := false
				t.Run(fmt.Sprintf("%s/%s %d", run.name, how, n), func(t *testing.T) { reached = run.fail(t, n, how, outcomes) })
				if !reached {
					break
				}
			}
		}
	}
	t.Log(outcomes)
	for _, want := range []string{"stored", "nothing stored", "unknown, stored", "unknown, nothing stored"} {
		if outcomes[want] == 0 {
			t.Errorf("no failure had the outcome: %s", want)
		}
	}
}

// fail executes the run and makes the operation with the number n fail. The result is false if the
// run performs fewer operations.
func (run faultyRun) fail(t *testing.T, n int, how storagetest.Failure, outcomes map[string]int) bool {
	f := storagetest.NewFaulty(mem.New())
	a := newApp(t, func(cfg *memory.Config) { cfg.Backend = f })
	for _, store := range []string{`"notes"`, `"flags"`, `"daily"`} {
		a.must(partition.Caller{Tenant: "acme", User: "ann", Run: "before"}, abi.SetContent, store, `{"n":1}`)
	}
	start := f.Calls("")
	f.Fail("", n, how)
	executions := 0
	_, err := a.Transact(context.Background(), &run.tx, func(ctx context.Context, v *memory.View) error {
		if executions++; executions == 1 && run.conflict {
			defer a.conflictingWrite(f)
		}
		for _, c := range run.calls {
			if _, err := v.Call(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	reached := f.Calls("")-start >= n
	f.Revive()
	stored := run.state(a)
	run.check(t, err, stored, outcomes)
	if how == storagetest.LostReply && err != nil && abi.FaultOf(err).Outcome != "" {
		t.Errorf("Transact = %v; want success, because the host can detect that the run was stored", err)
	}
	if executions > 2 || executions > 1 && !run.conflict {
		t.Errorf("the body was executed %d times; want no execution after a failure", executions)
	}
	if run.tx.Key != "" {
		run.again(t, a)
	}
	return reached
}

// conflictingWrite changes a record that the run has read. conflictingWrite bypasses the failing
// backend.
func (a *app) conflictingWrite(f *storagetest.Faulty) {
	behind := newApp(a.t, func(cfg *memory.Config) { cfg.Backend = f.Backend })
	behind.must(partition.Caller{Tenant: "acme", User: "bob", Run: "other"}, abi.SetContent, `"flags"`, `{"other":1}`)
}

func (run faultyRun) state(a *app) string {
	var states []string
	for _, store := range []string{`"notes"`, `"flags"`, `"daily"`} {
		states = append(states, a.must(partition.Caller{Tenant: "acme", User: "ann", Run: "after"}, abi.GetContent, store))
	}
	return strings.Join(states, " ")
}

// check compares the answer of the run with the stored records.
func (run faultyRun) check(t *testing.T, err error, stored string, outcomes map[string]int) {
	t.Helper()
	all := stored == run.after
	if none := stored == run.before || run.conflict && stored == `{"n":1} {"n":1,"other":1} {"n":1}`; !all && !none {
		t.Errorf("the stores contain %s; want %s or %s", stored, run.before, run.after)
	}
	f := abi.FaultOf(err)
	what := "nothing stored"
	if all {
		what = "stored"
	}
	switch {
	case err == nil && !all, err != nil && f.Outcome == "" && all:
		t.Errorf("Transact = %v, but the stores contain %s", err, stored)
	case err != nil && (f.Code != abi.Unavailable || f.Outcome != "" && f.Outcome != "unknown"):
		t.Errorf("Transact = %v (outcome %q); want unavailable", err, f.Outcome)
	case err != nil && f.Outcome != "":
		what = "unknown, " + what
	}
	outcomes[what]++
	if text, _ := json.Marshal(f); strings.Contains(string(text), "inject") || err != nil && strings.Contains(err.Error(), "inject") {
		t.Errorf("the fault contains text from the backend: %s", text)
	}
}

// again repeats a run with an idempotency key. The repeated run must succeed, but the effects of
// the run must not be stored twice.
func (run faultyRun) again(t *testing.T, a *app) {
	_, err := a.Transact(context.Background(), &run.tx, func(ctx context.Context, v *memory.View) error {
		for _, c := range run.calls {
			if _, err := v.Call(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if stored := run.state(a); err != nil || stored != run.after {
		t.Errorf("a second run with the key = %v, and the stores contain %s; want %s", err, stored, run.after)
	}
	reply := a.must(partition.Caller{Tenant: "acme", User: "ann", Run: "after"}, abi.GetContent, `"notes"`, "", `{"record":true}`)
	if !strings.Contains(reply, `"revision":2`) {
		t.Errorf("the run with a key took effect more than once: %s", reply)
	}
}

// A guest can catch faults of the backend. If the call of a write fails and the guest catches the
// fault, this write is not stored. The other writes of the run are stored.
func TestCaughtBackendFaults(t *testing.T) {
	for n := 1; n < 12; n++ {
		f := storagetest.NewFaulty(mem.New())
		a := newApp(t, func(cfg *memory.Config) { cfg.Backend = f })
		f.Fail(storagetest.OpGet, n, storagetest.NotApplied)
		want := map[string]string{`"notes"`: "null", `"flags"`: "null", `"daily"`: "null"}
		begun := false
		_, err := a.transact(partition.Caller{Tenant: "acme", User: "ann", Run: "r"}, func(ctx context.Context, v *memory.View) error {
			begun = true
			for store := range want {
				_, err := v.Call(ctx, call(abi.SetContent, store, `{"n":1}`))
				if err == nil {
					want[store] = `{"n":1}`
				} else if !errors.Is(err, abi.Unavailable) || strings.Contains(err.Error(), "inject") {
					t.Errorf("a failed call answered %v", err)
				}
			}
			return nil
		})
		if begun != (err == nil) {
			t.Errorf("Get %d failed: Transact = %v, body begun: %t", n, err, begun)
		}
		f.Revive()
		for store, content := range want {
			a.want(partition.Caller{Tenant: "acme", User: "ann", Run: "r"}, store, content)
		}
	}
}

// If the erasure of a user or the end of a session is interrupted, the operation returns an error.
// If the operation is repeated, it completes.
func TestInterruptedAndRepeated(t *testing.T) {
	acts := map[string]func(a *app) error{
		"erase": func(a *app) error { _, err := a.Erase(context.Background(), ann); return err },
		"end":   func(a *app) error { _, err := a.Sessions().End(context.Background(), ann); return err },
	}
	for name, act := range acts {
		for _, how := range storagetest.Failures {
			for n := 1; ; n++ {
				f := storagetest.NewFaulty(mem.New())
				a := newApp(t, func(cfg *memory.Config) { cfg.Backend = f })
				for _, store := range []string{`"notes"`, `"lastSession"`, `"cart"`} {
					a.must(ann, abi.SetContent, store, `{"n":1}`)
				}
				start := f.Calls("")
				f.Fail("", n, how)
				err := act(a)
				if f.Calls("")-start < n {
					break
				}
				if !errors.Is(err, abi.Unavailable) || strings.Contains(err.Error(), "inject") {
					t.Errorf("%s, operation %d %s: %v; want unavailable", name, n, how, err)
				}
				f.Revive()
				// If a record expired with its session, the record is invisible, even if it has not
				// been removed yet.
				anew := partition.Caller{Tenant: "acme", User: "ann", Session: "s2", Run: "r"}
				if _, ended := a.do(ann, abi.GetContent, `"cart"`); errors.Is(ended, abi.SessionEnded) {
					a.want(anew, `"lastSession"`, "null")
				}
				if err := act(a); err != nil {
					t.Errorf("%s repeated: %v", name, err)
				}
				prefix := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"})
				left, err := f.Scan(context.Background(), prefix, "", 10)
				if want := map[string]int{"erase": 0, "end": 1}[name]; err != nil || len(left) != want {
					t.Errorf("%s, operation %d %s, repeated: %d records are left, %v; want %d", name, n, how, len(left), err, want)
				}
			}
		}
	}
}
