package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/transcript"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

const settleAfter = 5 * time.Minute

// withTranscripts returns an app that stores transcripts.
func withTranscripts(t *testing.T, change ...func(*memory.Config)) *app {
	with := func(cfg *memory.Config) { cfg.Stores = append(cfg.Stores, declare.TranscriptStore()) }
	return newApp(t, append(change, with)...)
}

// say records a message of a user.
func (a *app) say(c partition.Caller, text string) memory.Done {
	a.t.Helper()
	done, err := a.transactWithoutRights(c, func(ctx context.Context, v *memory.View) error {
		_, err := memory.RecordMessages(ctx, v, "support", []transcript.Message{{Role: transcript.RoleUser, Content: text}}, settleAfter)
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return done
}

// due returns the records of the tenant that are due now.
func (a *app) due() []memory.Due {
	a.t.Helper()
	found, err := memory.NewSleepQueue(a.Service).List(context.Background(), "acme", a.clock.Now(), 100)
	if err != nil {
		a.t.Fatal(err)
	}
	return found
}

// lease leases the only run that is due.
func (a *app) lease() *memory.Lease {
	a.t.Helper()
	due := a.due()
	if len(due) != 1 {
		a.t.Fatalf("%d runs are due; want 1: %+v", len(due), due)
	}
	lease, err := memory.NewSleepQueue(a.Service).Lease(context.Background(), due[0], settleAfter, time.Minute)
	if err != nil {
		a.t.Fatal(err)
	}
	return lease
}

// finish removes the messages of a leased transcript. finish reports whether the lease was still
// valid.
func (a *app) finish(l *memory.Lease) (valid bool) {
	a.t.Helper()
	_, err := a.transactWithoutRights(partition.Caller{Tenant: l.Tenant, User: l.User}, func(ctx context.Context, v *memory.View) error {
		t, err := memory.OpenTranscript(ctx, v, l.Session)
		if valid = err == nil && l.Holds(t); !valid {
			return err
		}
		return t.Finish(ctx)
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return valid
}

// TestTranscriptSettles checks that a conversation has only one scheduled run, even if it has many
// messages. Each new message delays this run.
func TestTranscriptSettles(t *testing.T) {
	a := withTranscripts(t)
	done := a.say(ann, "one")
	if w := done.Effects.Writes; len(w) != 1 || w[0].Store != declare.Transcripts || w[0].Item != ann.Session {
		t.Errorf("the effects are %+v; want one write of the transcript", w)
	}
	a.clock.Advance(settleAfter - time.Second)
	a.say(ann, "two")
	a.clock.Advance(time.Second)
	if l := a.lease(); l != nil {
		t.Fatalf("the run of a conversation that continues was leased: %+v", l)
	}
	if due := a.due(); len(due) != 0 {
		t.Fatalf("the run was not moved: %+v", due)
	}
	a.clock.Advance(settleAfter)
	l := a.lease()
	if l == nil || l.Last != 2 || l.Agent != "support" || l.User != "ann" || l.Tries != 1 {
		t.Fatalf("the lease is %+v", l)
	}
	if len(a.due()) != 0 {
		t.Error("a leased run is due")
	}
	if !a.finish(l) || a.finish(l) {
		t.Error("the transcript was not processed exactly once")
	}
	a.clock.Advance(time.Hour)
	if due := a.due(); len(due) != 0 {
		t.Errorf("after the run, %+v is due", due)
	}
	a.say(ann, "three")
	a.clock.Advance(settleAfter)
	if l := a.lease(); l == nil || l.Last != 3 {
		t.Errorf("the next lease is %+v; want one for the third message", l)
	}
}

// TestTranscriptLeaseEnds simulates a node that ends during a run. Another node can then lease the
// run again, and the first lease is rejected.
func TestTranscriptLeaseEnds(t *testing.T) {
	a := withTranscripts(t)
	a.say(ann, "one")
	a.clock.Advance(settleAfter)
	first := a.lease()
	a.clock.Advance(time.Minute)
	second := a.lease()
	if second == nil || second.Tries != 2 || second.Key() != first.Key() {
		t.Fatalf("the second lease is %+v", second)
	}
	if a.finish(first) {
		t.Error("the lease that has ended is valid")
	}
	if err := memory.NewSleepQueue(a.Service).Release(context.Background(), first, 0, abi.Unavailable); err != nil {
		t.Fatal(err)
	}
	if len(a.due()) != 0 || !a.finish(second) {
		t.Error("the release of an old lease has ended the new one")
	}
}

// TestTranscriptRelease checks when a failed run is due again. The release of the lease sets the
// time of the next run.
func TestTranscriptRelease(t *testing.T) {
	a := withTranscripts(t)
	a.say(ann, "one")
	a.clock.Advance(settleAfter)
	l := a.lease()
	if err := memory.NewSleepQueue(a.Service).Release(context.Background(), l, time.Second, abi.Unavailable); err != nil {
		t.Fatal(err)
	}
	if len(a.due()) != 0 {
		t.Error("the run is due before the time of its release")
	}
	a.clock.Advance(time.Second)
	if due := a.due(); len(due) != 1 || due[0].Code != abi.Unavailable || due[0].Tries != 1 || due[0].Leased {
		t.Errorf("the schedule is %+v", due)
	}
	if again := a.lease(); again == nil || again.Tries != 2 {
		t.Errorf("the next lease is %+v", again)
	}
}

// TestTranscriptOfEndedSession checks that the run for a transcript is due when the session ends.
// The run removes the record of the transcript.
func TestTranscriptOfEndedSession(t *testing.T) {
	a := withTranscripts(t)
	a.say(ann, "one")
	if _, err := a.Sessions().End(context.Background(), ann); err != nil {
		t.Fatal(err)
	}
	if err := memory.NewSleepQueue(a.Service).End(context.Background(), "acme", "ann", ann.Session); err != nil {
		t.Fatal(err)
	}
	l := a.lease()
	if l == nil {
		t.Fatal("the run of an ended session was not leased")
	}
	if !a.finish(l) || a.countRecords(declare.Transcripts) != 0 {
		t.Error("the transcript of an ended session is left after its run")
	}
	if err := memory.NewSleepQueue(a.Service).End(context.Background(), "acme", "ann", ann.Session); err != nil || len(a.due()) != 0 {
		t.Errorf("End without a transcript: %v, due %+v", err, a.due())
	}
}

// TestTranscriptEndsDuringRun ends a session while a run processes the transcript of the session.
// The lease of the run must remain valid.
func TestTranscriptEndsDuringRun(t *testing.T) {
	a := withTranscripts(t)
	a.say(ann, "one")
	a.clock.Advance(settleAfter)
	l := a.lease()
	if err := memory.NewSleepQueue(a.Service).End(context.Background(), "acme", "ann", ann.Session); err != nil {
		t.Fatal(err)
	}
	if !a.finish(l) || a.countRecords(declare.Transcripts) != 0 {
		t.Error("the run lost its lease because the session ended")
	}
}

// TestTranscriptExpires checks that a transcript expires if no run processes it early enough.
func TestTranscriptExpires(t *testing.T) {
	a := withTranscripts(t)
	a.say(ann, "one")
	a.clock.Advance(settleAfter + declare.TranscriptRetention)
	if due := a.due(); len(due) != 0 {
		t.Errorf("the run of an expired transcript is due: %+v", due)
	}
	if n := a.countRecords(declare.Transcripts); n != 0 {
		t.Errorf("%d transcripts are left", n)
	}
	a.say(caller("bob", "s2"), "two")
	a.clock.Advance(settleAfter)
	found, err := memory.NewSleepQueue(a.Service).List(context.Background(), "acme", a.clock.Now(), 1)
	if err != nil || len(found) != 1 || found[0].User != "bob" {
		t.Errorf("the queue is %+v, %v; want the run after the expired one", found, err)
	}
}

// TestTranscriptWithoutUser checks that no messages are stored for a caller without a user.
func TestTranscriptWithoutUser(t *testing.T) {
	a := withTranscripts(t)
	a.say(partition.Caller{Tenant: "acme", Session: "s9"}, "one")
	a.say(partition.Caller{Tenant: "acme", User: "ann"}, "one")
	a.clock.Advance(settleAfter)
	if n := a.countRecords(declare.Transcripts); n != 0 || len(a.due()) != 0 {
		t.Errorf("%d transcripts, due %+v; want none", n, a.due())
	}
}

// TestTranscriptErased checks that the erasure of a user removes the transcript and the scheduled
// run.
func TestTranscriptErased(t *testing.T) {
	a := withTranscripts(t)
	a.say(ann, "one")
	a.say(caller("bob", "s2"), "two")
	a.clock.Advance(settleAfter)
	lease, err := memory.NewSleepQueue(a.Service).Lease(context.Background(), a.dueOf("ann"), settleAfter, time.Minute)
	if err != nil || lease == nil {
		t.Fatalf("Lease = %+v, %v", lease, err)
	}
	if _, err := a.Erase(context.Background(), partition.Caller{Tenant: "acme", User: "ann"}); err != nil {
		t.Fatal(err)
	}
	if a.finish(lease) {
		t.Error("the transcript of an erased user was processed")
	}
	if n := a.countRecords(declare.Transcripts); n != 1 {
		t.Errorf("%d transcripts are left; want the other user's", n)
	}
	heads, err := a.backend.Heads(context.Background(), storage.MakeKey(storage.Part{Tag: storage.System, Value: partition.SleepDue}), "", 10)
	if err != nil || len(heads) != 1 {
		t.Errorf("%d records of the schedule are left, %v; want the other user's", len(heads), err)
	}
}

func (a *app) dueOf(user string) memory.Due {
	a.t.Helper()
	for _, d := range a.due() {
		if d.User == user {
			return d
		}
	}
	a.t.Fatalf("nothing is due for %s", user)
	return memory.Due{}
}

// TestDueApps checks that DueApps returns apps with due runs and omits paused apps. One call must
// examine only a limited number of apps.
func TestDueApps(t *testing.T) {
	ctx := context.Background()
	a := withTranscripts(t)
	for i := range 5 {
		a.say(partition.Caller{Tenant: fmt.Sprint("t", i), User: "ann", Session: fmt.Sprint("s", i)}, "one")
	}
	if due, _, err := memory.DueApps(ctx, a.backend, a.clock.Now(), "", 100); err != nil || len(due) != 0 {
		t.Errorf("before the conversations settle: %+v, %v", due, err)
	}
	a.clock.Advance(settleAfter)
	if err := memory.NewSleepQueue(a.Service).SetPaused(ctx, "t3", true); err != nil {
		t.Fatal(err)
	}
	var tenants []string
	after, calls := storage.Key(""), 0
	for {
		due, next, err := memory.DueApps(ctx, a.backend, a.clock.Now(), after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range due {
			tenants = append(tenants, d.Tenant)
		}
		if calls++; next == "" {
			break
		}
		after = next
	}
	if got := fmt.Sprint(tenants); got != "[t0 t1 t2 t4]" || calls != 3 {
		t.Errorf("DueApps = %s in %d calls", got, calls)
	}
	if _, paused, err := memory.NewSleepQueue(a.Service).Paused(ctx, "t3"); err != nil || !paused {
		t.Errorf("Paused = %t, %v", paused, err)
	}
	if err := errors.Join(memory.NewSleepQueue(a.Service).SetPaused(ctx, "t3", false), memory.NewSleepQueue(a.Service).SetPaused(ctx, "t3", false)); err != nil {
		t.Fatal(err)
	}
	if _, paused, err := memory.NewSleepQueue(a.Service).Paused(ctx, "t3"); err != nil || paused {
		t.Errorf("after the end of the pause, Paused = %t, %v", paused, err)
	}
}

// TestTranscriptAtQuota adds a message to an empty transcript. TestTranscriptAtQuota uses messages
// of all sizes. If the message and its scheduled run together exceed the quota, RecordMessages
// fails. The transaction then commits neither the message nor the run.
func TestTranscriptAtQuota(t *testing.T) {
	fits, refused := 0, 0
	for size := range 400 {
		a := withTranscripts(t, func(cfg *memory.Config) { cfg.Limits = memory.Limits{UserBytes: 600} })
		var failed error
		_, err := a.transactWithoutRights(ann, func(ctx context.Context, v *memory.View) error {
			message := transcript.Message{Role: transcript.RoleUser, Content: strings.Repeat("x", size+1)}
			_, failed = memory.RecordMessages(ctx, v, "support", []transcript.Message{message}, settleAfter)
			if errors.Is(failed, abi.QuotaExceeded) {
				return nil
			}
			return failed
		})
		if err != nil {
			t.Fatalf("a message of %d bytes: %v", size+1, err)
		}
		a.clock.Advance(settleAfter)
		due := len(a.due())
		if want := map[bool]int{true: 1}[failed == nil]; due != want {
			t.Errorf("a message of %d bytes: %d scheduled runs; want %d", size+1, due, want)
		}
		if fits++; failed != nil {
			refused++
		}
	}
	if refused == 0 || refused == fits {
		t.Errorf("%d of %d messages do not fit; want some", refused, fits)
	}
}
