package memory_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// rapidInts is an intSource. Package rapid makes the choices and can shrink them.
type rapidInts struct{ t *rapid.T }

func (d rapidInts) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "choice") }

// TestSequence performs random runs with small limits. The runs have the same caller and are
// executed one after another. The replies, faults and stored records of the Service must equal
// those of the model, and the usage must be exact.
func TestSequence(t *testing.T) {
	stores := []string{"notes", "prefs", "daily", "last", "cart", "flags"}
	limits := memory.Limits{RecordBytes: 60, AppRecords: 3}
	check := func(t *rapid.T) {
		d := rapidInts{t}
		s := newSequence(t, limits)
		for range 1 + d.IntN(20) {
			switch d.IntN(12) {
			case 0, 1:
				s.advance(choose(d, time.Microsecond, time.Minute, 9*time.Minute, 2*time.Hour))
			case 2:
				s.sweep()
			case 3:
				s.endSession(choose(d, "s1", "s2"))
			default:
				s.run(choose(d, partition.Caller{User: "ann", Session: "s1"}, partition.Caller{User: "ann", Session: "s2"}, partition.Caller{User: "ann"}), randomProgram(d, stores))
			}
			s.compareUsage()
		}
	}
	for range 10 { // 1,000 short sequences
		rapid.Check(t, check)
	}
}

// sequence contains a Service and the model.
type sequence struct {
	t       *rapid.T
	service *memory.Service
	backend storage.Backend
	clock   *clock
	w       world
}

func newSequence(t *rapid.T, limits memory.Limits) *sequence {
	s := &sequence{t: t, backend: mem.New(), clock: newClock()}
	s.w = newWorld(s.clock.Now(), limits)
	service, err := memory.New(memory.Config{
		App: "shop", Backend: s.backend, Stores: modelDeclarations(), Now: s.clock.Now, Limits: limits, SessionIdle: 10000 * time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.service = service
	return s
}

func (s *sequence) advance(d time.Duration) {
	s.clock.Advance(d)
	s.w.now = s.w.now.Add(d)
}

func (s *sequence) sweep() {
	if _, err := s.service.Sweep(context.Background(), "acme", 100); err != nil {
		s.t.Fatal(err)
	}
	s.w = s.w.remove(func(_ place, r modelRecord) bool {
		return !r.expires.IsZero() && !s.w.now.Add(-time.Hour).Before(r.expires)
	})
}

func (s *sequence) endSession(session string) {
	_, err := s.service.Sessions().End(context.Background(), partition.Caller{Tenant: "acme", Session: session, Run: "end"})
	if _, known := s.w.sessions[session]; known != (err == nil) {
		s.t.Fatalf("EndSession(%s) = %v; the session is known: %t", session, err, known)
	}
	s.w = s.w.endSession(session)
	s.w = s.w.remove(func(_ place, r modelRecord) bool { return r.session == session })
}

func (s *sequence) run(c partition.Caller, p program) {
	c.Tenant, c.Run = "acme", "run"
	var trace []string
	executions := 0
	_, err := s.service.Transact(context.Background(), &memory.Tx{Caller: c, Authority: memory.Operator()}, func(ctx context.Context, v *memory.View) error {
		if executions++; executions > 1 {
			s.t.Fatalf("a run without conflicts was executed again: %v", p.steps)
		}
		var err error
		trace, err = p.run(func(op string, args []string) (string, abi.Code, error) {
			reply, err := v.Call(ctx, call(op, args...))
			if f, ok := err.(*abi.Fault); ok {
				return "", f.Code, nil
			}
			if err != nil {
				return "", "", err
			}
			return canonical(reply), "", nil
		})
		return err
	})
	s.compareRun(c, p, trace, err)
}

func (s *sequence) compareRun(c partition.Caller, p program, trace []string, err error) {
	if code := s.w.begin(c); code != "" {
		if abi.FaultOf(err) == nil || abi.FaultOf(err).Code != code {
			s.t.Fatalf("Transact = %v; want %s", err, code)
		}
		return
	}
	g := newGuest(s.w, c, s.w.now)
	wantTrace, wantErr := p.run(func(op string, args []string) (string, abi.Code, error) {
		reply, code := g.call(op, args)
		return reply, code, nil
	})
	if !equal(trace, wantTrace) || err != wantErr {
		s.t.Fatalf("%v\nsaw  %q, %v\nwant %q, %v", p.steps, trace, err, wantTrace, wantErr)
	}
	if err == nil {
		s.w = g.commit()
	}
	s.compareRecords()
}

func (s *sequence) compareRecords() {
	for at, want := range s.w.records {
		got, err := s.backend.Get(context.Background(), at.key("acme"))
		if err == nil && !got[0].Exists() && !want.expires.IsZero() && !s.w.now.Before(want.expires) {
			delete(s.w.records, at) // a reclaim of space removed the record
			continue
		}
		if err != nil || !sameRecord(got[0], want) {
			s.t.Fatalf("%v: stored %+v, %v; want %+v", at, got, err, want)
		}
	}
}

// compareUsage compares the stored records with the recorded usage of the app and the user, and
// with the records of the model.
func (s *sequence) compareUsage() {
	group := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"})
	all, err := s.backend.Scan(context.Background(), "", "", 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, g := range []storage.Key{group, storage.UserAccount(group, "ann")} {
		var want storage.Usage
		for _, r := range all {
			if slices.Contains(r.Accounts(), g) {
				want = want.Plus(storage.UsageOf(storage.HeadOf(r)))
			}
		}
		if usage, err := s.backend.Usage(context.Background(), g); err != nil || usage[0] != want {
			s.t.Fatalf("usage of %s = %+v, %v; want %+v", g, usage, err, want)
		}
		if g == group && want.Records != int64(len(s.w.records)) {
			s.t.Fatalf("%d records are stored; want %d", want.Records, len(s.w.records))
		}
	}
}
