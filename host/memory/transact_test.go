package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

// transact executes the function "body" as a transaction of an operator.
func (a *app) transact(c partition.Caller, body func(ctx context.Context, v *memory.View) error) (memory.Done, error) {
	return a.Transact(context.Background(), &memory.Tx{Caller: c, Authority: memory.Operator()}, body)
}

func mustCall(t *testing.T, ctx context.Context, v *memory.View, op string, texts ...string) string {
	t.Helper()
	reply, err := v.Call(ctx, call(op, texts...))
	if err != nil {
		t.Errorf("%s(%s) failed: %v", op, strings.Join(texts, ", "), err)
	}
	return string(reply)
}

func TestFailedBodyStoresNothing(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":1}`)
	boom := errors.New("boom")
	_, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
		mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"a":2}`)
		mustCall(t, ctx, v, abi.SetContent, `"flags"`, `{"a":2}`)
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("Transact = %v; want the body's error", err)
	}
	a.want(ann, `"notes"`, `{"a":1}`)
	a.want(ann, `"flags"`, "null")
}

func TestBodySeesItsOwnWrites(t *testing.T) {
	a := newApp(t)
	done, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
		if got := mustCall(t, ctx, v, abi.GetContent, `"notes"`); got != "null" {
			t.Errorf("before: %s", got)
		}
		mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"a":1}`)
		if got := mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"b":2}`, `{"if_revision":1}`); !strings.Contains(got, `"revision":1`) {
			t.Errorf("second set = %s; want revision 1, the revision of the commit", got)
		}
		if got := mustCall(t, ctx, v, abi.GetContent, `"notes"`); got != `{"a":1,"b":2}` {
			t.Errorf("after: %s", got)
		}
		mustCall(t, ctx, v, abi.DeleteContent, `"notes"`)
		if got := mustCall(t, ctx, v, abi.GetContent, `"notes"`); got != "null" {
			t.Errorf("deleted: %s", got)
		}
		mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"c":3}`)
		return nil
	})
	if err != nil || len(done.Effects.Writes) != 1 || done.Effects.Writes[0].Revision != 1 {
		t.Fatalf("Transact = %+v, %v; want one write of revision 1", done, err)
	}
	a.want(ann, `"notes"`, `{"c":3}`)
}

func TestCaughtFaultKeepsWrites(t *testing.T) {
	a := newApp(t)
	_, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
		mustCall(t, ctx, v, abi.SetContent, `"prefs"`, `{"language":"fr"}`)
		if _, err := v.Call(ctx, call(abi.SetContent, `"prefs"`, `{"language":7}`)); !errors.Is(err, abi.SchemaViolation) {
			t.Errorf("bad set = %v; want schema_violation", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.want(ann, `"prefs"`, `{"count":0,"language":"fr"}`)
}

// interfere runs a transaction. The first attempt of the transaction conflicts with another
// transaction. Each attempt calls the functions "before" and "after". In the first attempt, the
// function "other" is called between the calls of "before" and "after". The function "other" runs
// the conflicting transaction.
func (a *app) interfere(c partition.Caller, before func(context.Context, *memory.View), other func(), after func(context.Context, *memory.View)) memory.Done {
	a.t.Helper()
	attempt := 0
	done, err := a.transact(c, func(ctx context.Context, v *memory.View) error {
		attempt++
		before(ctx, v)
		if attempt == 1 {
			other()
		}
		after(ctx, v)
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return done
}

func TestChangedReadRunsBodyAgain(t *testing.T) {
	a := newApp(t)
	read := func(ctx context.Context, v *memory.View) { mustCall(t, ctx, v, abi.GetContent, `"notes"`) }
	other := func() { a.must(ann, abi.SetContent, `"notes"`, `{"a":1}`) }
	if done := a.interfere(ann, read, other, func(context.Context, *memory.View) {}); done.Attempts != 2 {
		t.Errorf("attempts = %d; want 2", done.Attempts)
	}
}

func TestBlindMergeDoesNotConflict(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":1}`)
	write := func(ctx context.Context, v *memory.View) {
		if got := mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"b":2}`); !strings.Contains(got, `"revision":null`) {
			t.Errorf("reply to a blind merge = %s", got)
		}
	}
	other := func() { a.must(ann, abi.SetContent, `"notes"`, `{"c":3}`) }
	done := a.interfere(ann, write, other, func(context.Context, *memory.View) {})
	if done.Attempts != 1 || done.Effects.Writes[0].Revision != 3 {
		t.Errorf("done = %+v; want one attempt and revision 3", done)
	}
	a.want(ann, `"notes"`, `{"a":1,"b":2,"c":3}`)
}

func TestBlindMergeThatNoLongerMatchesIsRaised(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) { cfg.Limits.RecordBytes = 40 })
	faults := 0
	attempt := 0
	_, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
		attempt++
		if _, err := v.Call(ctx, call(abi.SetContent, `"notes"`, `{"mine":"0123456789"}`)); errors.Is(err, abi.TooLarge) {
			faults++
		}
		if attempt == 1 {
			a.must(ann, abi.SetContent, `"notes"`, `{"other":"0123456789"}`)
		}
		return nil
	})
	if err != nil || attempt != 2 || faults != 1 {
		t.Errorf("err %v, %d attempts, %d faults; want none, 2, 1", err, attempt, faults)
	}
}

func TestInconsistentReadEndsAttempt(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"notes"`, `{"n":1}`)
	a.must(ann, abi.SetContent, `"flags"`, `{"n":1}`)
	attempt := 0
	_, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
		attempt++
		first := mustCall(t, ctx, v, abi.GetContent, `"notes"`)
		if attempt == 1 {
			_, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
				mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"n":2}`)
				mustCall(t, ctx, v, abi.SetContent, `"flags"`, `{"n":2}`)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		second, err := v.Call(ctx, call(abi.GetContent, `"flags"`))
		if err == nil && string(second) != first {
			t.Errorf("inconsistent reads: %s and %s", first, second)
		}
		var f *abi.Fault
		if attempt == 1 && (err == nil || errors.As(err, &f)) {
			t.Errorf("a call of the first attempt = %v; want an error other than a fault", err)
		}
		if _, again := v.Call(ctx, call(abi.GetContent, `"daily"`)); err != nil && again == nil {
			t.Error("a call with a closed View succeeded; want an error")
		}
		return nil // this guest ignores the error, but the attempt must nevertheless fail
	})
	if err != nil || attempt != 2 {
		t.Errorf("err %v after %d attempts; want none after 2", err, attempt)
	}
}

func TestSessionEndAndErasureDuringRun(t *testing.T) {
	ctx := context.Background()
	a := newApp(t)
	body := func(meanwhile func()) func(ctx context.Context, v *memory.View) error {
		return func(ctx context.Context, v *memory.View) error {
			mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"a":1}`)
			meanwhile()
			return nil
		}
	}
	_, err := a.transact(ann, body(func() {
		if _, err := a.Sessions().End(ctx, ann); err != nil {
			t.Error(err)
		}
	}))
	if !errors.Is(err, abi.SessionEnded) {
		t.Errorf("a run whose session ended = %v; want session_ended", err)
	}
	other := partition.Caller{Tenant: "acme", User: "ann", Run: "r2"}
	_, err = a.transact(other, body(func() {
		if _, err := a.Erase(ctx, other); err != nil {
			t.Error(err)
		}
	}))
	if !errors.Is(err, abi.Cancelled) {
		t.Errorf("a run whose user was erased = %v; want cancelled", err)
	}
	a.want(other, `"notes"`, "null")
}

func TestErase(t *testing.T) {
	a := newApp(t)
	bob := partition.Caller{Tenant: "acme", User: "bob", Session: "s2", Run: "r"}
	for _, c := range []partition.Caller{ann, bob} {
		for _, store := range []string{`"notes"`, `"cart"`, `"lastSession"`, `"flags"`} {
			a.must(c, abi.SetContent, store, `{"a":1}`)
		}
	}
	erased, err := a.Erase(context.Background(), ann)
	if err != nil || erased.Records != 3 || erased.Sessions != 1 || erased.Stores["notes"] != 1 {
		t.Fatalf("Erase = %+v, %v", erased, err)
	}
	a.wantFault(abi.SessionEnded, ann, abi.GetContent, `"notes"`)
	again := partition.Caller{Tenant: "acme", User: "ann", Session: "s3", Run: "r"}
	a.want(again, `"notes"`, "null")
	a.want(again, `"flags"`, `{"a":1}`)
	a.want(bob, `"notes"`, `{"a":1}`)
	a.want(bob, `"cart"`, `{"a":1}`)
}

func TestIdempotencyKey(t *testing.T) {
	a := newApp(t)
	ran := 0
	run := func(fingerprint string) (memory.Done, error) {
		tx := memory.Tx{Caller: caller("ann", ""), Authority: memory.Operator(), Key: "k", Fingerprint: fingerprint,
			Answer: func(e report.Effects) ([]byte, error) { return json.Marshal(e.Writes[0].Revision) }}
		return a.Transact(context.Background(), &tx, func(ctx context.Context, v *memory.View) error {
			ran++
			mustCall(t, ctx, v, abi.SetContent, `"notes"`, `{"a":1}`)
			return nil
		})
	}
	if _, err := run("x"); err != nil {
		t.Fatal(err)
	}
	if done, err := run("x"); err != nil || string(done.Replayed) != "1" || ran != 1 {
		t.Errorf("second run = %s, %v after %d executions; want 1 and 1 execution", done.Replayed, err, ran)
	}
	if _, err := run("y"); !errors.Is(err, abi.Conflict) {
		t.Errorf("another input = %v; want conflict", err)
	}
	a.clock.Advance(25 * time.Hour)
	if done, err := run("y"); err != nil || done.Replayed != nil {
		t.Errorf("after 25 hours = %s, %v; want a new run", done.Replayed, err)
	}
}

func TestManyCounters(t *testing.T) {
	a := newApp(t)
	const n = 100
	var mu sync.Mutex
	executions := 0
	var wg sync.WaitGroup
	for range n {
		c := caller("ann", "")
		wg.Go(func() {
			_, err := a.transact(c, func(ctx context.Context, v *memory.View) error {
				mu.Lock()
				executions++
				mu.Unlock()
				reply, err := v.Call(ctx, call(abi.GetContent, `"notes"`))
				if err != nil {
					return err
				}
				var doc struct{ N int }
				if err := json.Unmarshal(reply, &doc); err != nil {
					return err
				}
				next, _ := json.Marshal(map[string]int{"n": doc.N + 1})
				_, err = v.Call(ctx, call(abi.SetContent, `"notes"`, string(next)))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	a.want(ann, `"notes"`, `{"n":100}`)
	if executions > 3*n {
		t.Errorf("%d executions for %d runs; want about twice as many", executions, n)
	}
}

func TestQuota(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) { cfg.Limits.AppRecords = 2 })
	a.must(ann, abi.SetContent, `"notes"`, `{"a":1}`)
	a.must(ann, abi.SetContent, `"flags"`, `{"a":1}`)
	a.wantFault(abi.QuotaExceeded, ann, abi.SetContent, `"cart"`, `{"a":1}`)
	a.must(ann, abi.SetContent, `"notes"`, `{"a":2}`)
	a.must(ann, abi.DeleteContent, `"notes"`)
	a.must(ann, abi.SetContent, `"cart"`, `{"a":1}`)
	small := newApp(t, func(cfg *memory.Config) { cfg.Limits.AppBytes = 100 })
	small.wantFault(abi.QuotaExceeded, ann, abi.SetContent, `"notes"`, `{"a":"`+strings.Repeat("x", 100)+`"}`)
}

// bump changes a record without the fair lock of this host, as another host would do.
func (a *app) bump(key storage.Key) {
	a.t.Helper()
	err := a.backend.Update(context.Background(), storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		r := now[0]
		r.Revision++
		return []storage.Write{{Record: r}}, nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

func TestConflictOnlyAtTheDeadline(t *testing.T) {
	a := newApp(t)
	a.must(ann, abi.SetContent, `"flags"`, `{"a":1}`)
	records, err := a.backend.Scan(context.Background(), storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, expire := context.WithDeadline(context.Background(), time.Now().Add(time.Hour))
	defer expire()
	attempts := 0
	_, err = a.Transact(ctx, &memory.Tx{Caller: ann, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		attempts++
		mustCall(t, ctx, v, abi.GetContent, `"flags"`)
		if attempts < 20 {
			a.bump(records[0].Key)
		}
		return nil
	})
	if err != nil || attempts != 20 {
		t.Errorf("Transact = %v after %d attempts; want success after 20", err, attempts)
	}
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = a.Transact(short, &memory.Tx{Caller: ann, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		if _, err := v.Call(ctx, call(abi.GetContent, `"flags"`)); err != nil {
			return err
		}
		a.bump(records[0].Key)
		return nil
	})
	if !errors.Is(err, abi.Conflict) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Transact = %v; want conflict at the deadline", err)
	}
}

// After the tombstone of a session has expired, another user can start a session with the same id.
// An erasure of the first user must not remove this new session.
func TestEraseKeepsSessionOfNewOwner(t *testing.T) {
	ctx := context.Background()
	a := newApp(t)
	a.must(ann, abi.SetContent, `"cart"`, `{"a":1}`)
	if _, err := a.Sessions().End(ctx, ann); err != nil {
		t.Fatal(err)
	}
	a.clock.Advance(32 * 24 * time.Hour)
	if _, err := a.Sweep(ctx, "acme", 100); err != nil {
		t.Fatal(err)
	}
	bob := partition.Caller{Tenant: "acme", User: "bob", Session: "s1", Run: "r"}
	a.must(bob, abi.SetContent, `"cart"`, `{"b":1}`)
	if sessions, _, err := a.Sessions().List(ctx, partition.Caller{Tenant: "acme", User: "ann"}, "", 10); err != nil || len(sessions) != 0 {
		t.Errorf("ann's sessions = %+v, %v; want none", sessions, err)
	}
	if _, err := a.Sessions().Get(ctx, ann); !errors.Is(err, abi.AccessDenied) {
		t.Errorf("ann's read of bob's session = %v; want access_denied", err)
	}
	if erased, err := a.Erase(ctx, ann); err != nil || erased.Records != 0 {
		t.Errorf("Erase = %+v, %v; want nothing removed", erased, err)
	}
	a.want(bob, `"cart"`, `{"b":1}`)
}

// An answer that is stored under an idempotency key belongs to a session. The answer expires with
// this session and is not returned to other sessions.
func TestKeptAnswerEndsWithItsSession(t *testing.T) {
	ctx := context.Background()
	a := newApp(t)
	run := func(c partition.Caller) (memory.Done, error) {
		tx := memory.Tx{Caller: c, Authority: memory.Operator(), Key: "k", Fingerprint: "f", Answer: func(report.Effects) ([]byte, error) { return []byte(`"secret"`), nil }}
		return a.Transact(ctx, &tx, func(ctx context.Context, v *memory.View) error { return nil })
	}
	one, two := partition.Caller{Tenant: "acme", Session: "one", Run: "r1"}, partition.Caller{Tenant: "acme", Session: "two", Run: "r2"}
	if _, err := run(one); err != nil {
		t.Fatal(err)
	}
	if done, err := run(two); err != nil || done.Replayed != nil {
		t.Errorf("another session got %s, %v; want a run of its own", done.Replayed, err)
	}
	if done, err := run(one); err != nil || string(done.Replayed) != `"secret"` {
		t.Errorf("the same session got %s, %v; want the stored answer", done.Replayed, err)
	}
	if _, err := a.Sessions().End(ctx, one); err != nil {
		t.Fatal(err)
	}
	if done, err := run(one); !errors.Is(err, abi.SessionEnded) {
		t.Errorf("after its end the session got %s, %v; want session_ended", done.Replayed, err)
	}
	records, err := a.backend.Scan(ctx, "", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if strings.Contains(string(r.Content), "secret") && r.Key.Part(storage.Session) == "one" {
			t.Errorf("%s is still stored", r.Key)
		}
	}
}
