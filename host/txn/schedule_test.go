package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// TestSchedules runs small random programs concurrently. The scheduler can switch between programs
// at every operation of the backend. At each snapshot of a run, the test executes the same steps on
// a model in the state of the snapshot. The results of the run and of the model must be equal. When
// a run commits, the model executes the whole program in the state before the commit. After the
// commit, the stored records must equal the records of the model.
func TestSchedules(t *testing.T) {
	txntest.Schedules{
		MemSeeds: 3000, BoltSeeds: 400, MustCover: mustCover,
		Play: func(t *testing.T, b storage.Backend, seed uint64, covered map[string]int) {
			if err := playSeed(b, seed, 0, covered); err != nil {
				t.Fatal(err)
			}
		},
	}.Run(t)
}

// TestSchedulesFindBrokenRules breaks each rule of the implementation in turn. The schedules must
// detect each broken rule.
func TestSchedulesFindBrokenRules(t *testing.T) {
	if len(txn.Rules) != txn.AllRules {
		t.Errorf("the test breaks %d of %d rules", len(txn.Rules), txn.AllRules)
	}
	const maximum = 20_000
	for name, rule := range txn.Rules {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= maximum; seed++ {
				var found error
				synctest.Test(t, func(*testing.T) { found = playSeed(mem.New(), seed, rule, map[string]int{}) })
				if found != nil {
					text, _, _ := strings.Cut(found.Error(), "\n")
					t.Logf("found: %s", text)
					return
				}
			}
			t.Errorf("%d seeds did not detect the broken rule", maximum)
		})
	}
}

// scenario contains the runs and events of one seed.
type scenario struct {
	*txntest.Scheduler
	seed   uint64
	tenant string
	clock  time.Time
	model  modelState
	dbs    []*txn.DB
	runs   []*runHistory
	// advances is the probability, in percent, that the clock advances between two steps.
	advances int
	events   []string
}

// The type runHistory records what one run has done.
type runHistory struct {
	id      string
	program program
	task    *txntest.Task
	// The fields "trace" and "stamp" describe the current attempt. attempts is the number of
	// attempts so far.
	trace    []string
	stamp    time.Time
	seed     uint64
	attempts int
	over     bool
	// snapshot is the state of the last snapshot of the attempt. The field "at" is the time of the
	// last snapshot.
	snapshot  *modelState
	at        time.Time
	commits   int
	committed *modelTx
	out       txn.Outcome
	err       error
}

var errClosed = errors.New("the guard is closed")

func playSeed(b storage.Backend, seed uint64, broken txn.Rule, covered map[string]int) error {
	s := newScenario(b, seed, broken)
	if s.Run(s.maybeAdvance) == nil {
		for _, h := range s.runs {
			s.checkEnd(h)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("seed %d: %w\n%s", seed, err, s)
	}
	s.cover(covered)
	return nil
}

func newScenario(b storage.Backend, seed uint64, broken txn.Rule) *scenario {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &scenario{
		Scheduler: txntest.NewScheduler(b, rng), seed: seed, tenant: fmt.Sprintf("t%d", seed),
		clock: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), model: modelState{map[storage.Key]storage.Record{}, map[storage.Key]int64{}},
	}
	for range 1 + max(0, rng.IntN(3)-1) {
		db := txn.New(txn.Config{Backend: s.Scheduler, Now: func() time.Time { return s.clock }})
		db.Break(broken)
		s.dbs = append(s.dbs, db)
	}
	s.prepare()
	s.addTheme()
	for len(s.Tasks()) < 2 || len(s.Tasks()) < 4 && rng.IntN(3) > 0 {
		s.addRun(randomProgram(rng, 0))
	}
	s.addEnvironment()
	if rng.IntN(6) == 0 {
		s.Tasks()[rng.IntN(len(s.Tasks()))].Fault = pick(rng, txntest.ReplyLost, txntest.RequestLost)
	}
	return s
}

// prepare stores the initial records.
func (s *scenario) prepare() {
	s.setSystem(sessionKey(s.tenant, "session/s1"), "open")
	var p program
	for i := range itemCount {
		if s.Rand.IntN(2) == 0 {
			p.steps = append(p.steps, step{op: "set", key: i, n: i, session: pick(s.Rand, "", "", "s1")})
		}
		if s.Rand.IntN(6) == 0 {
			p.steps = append(p.steps, step{op: "expire", key: i, n: 1})
		}
	}
	s.addRun(p)
	_ = s.Run(func() {}) // playSeed checks the error
}

// addTheme adds programs that cause situations that are rare in random programs.
func (s *scenario) addTheme() {
	i, j := s.Rand.IntN(itemCount), s.Rand.IntN(itemCount)
	var themes = [][]program{
		nil, nil, nil, nil,
		{{steps: []step{{op: "delete", key: i}}}, {steps: []step{{op: "append", key: i, n: 1}}}, {steps: []step{{op: "get", key: i}, {op: "digest", key: j}}}},
		{{steps: []step{{op: "append", key: i, n: 1}, {op: "get", key: j}, {op: "get", key: i}, {op: "digest", key: j}}}, {steps: []step{{op: "append", key: i, n: 2}, {op: "append", key: j, n: 2}}}},
		{{steps: []step{{op: "scan", n: 9}, {op: "digest", key: i}}}, {steps: []step{{op: "scan", n: 9}, {op: "digest", key: j}}}},
		{{steps: []step{{op: "create", key: i}, {op: "get", key: j}, {op: "digest", key: j}}}, {steps: []step{{op: "delete", key: i}}}, {steps: []step{{op: "create", key: i}}}},
		{{steps: []step{{op: "delete", key: i}, {op: "append", key: i, n: 1}, {op: "get", key: i}}}, {steps: []step{{op: "delete", key: i}}}, {steps: []step{{op: "append", key: i, n: 3}, {op: "get", key: i}, {op: "digest", key: j}}}},
	}
	for _, p := range themes[s.Rand.IntN(len(themes))] {
		s.addRun(p)
	}
}

func (s *scenario) guardKey() storage.Key { return sessionKey(s.tenant, "session/guard") }

func (s *scenario) open(w *modelState) bool {
	return string(w.records[s.guardKey()].Content) != "closed"
}

// setSystem stores a record that no run writes.
func (s *scenario) setSystem(key storage.Key, content string) {
	s.systemUpdate(context.Background(), key, content)
	s.observe(nil)
}

func (s *scenario) systemUpdate(ctx context.Context, key storage.Key, content string) {
	err := s.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: storage.Record{Key: key, Content: []byte(content), Revision: now[0].Revision + 1}}}, nil
	})
	if err != nil && !errors.Is(err, storage.ErrUnknownOutcome) {
		s.Fail("set %s: %w", key, err)
	}
}

// spawn adds a task and compares the updates of the task with the model.
func (s *scenario) spawn(name string, do func(context.Context, *txntest.Task)) *txntest.Task {
	task := s.Go(name, do)
	task.OnUpdate = func([]storage.Head, []storage.Write) { s.observe(task) }
	return task
}

// addEnvironment adds events that happen between the steps of the runs.
func (s *scenario) addEnvironment() {
	if s.Rand.IntN(3) == 0 {
		s.advances = 15
	}
	switch s.Rand.IntN(10) {
	case 0, 1:
		s.spawn("end s1", func(ctx context.Context, _ *txntest.Task) {
			s.systemUpdate(ctx, sessionKey(s.tenant, "session/s1"), "ended")
		})
	case 2:
		s.spawn("close", func(ctx context.Context, _ *txntest.Task) { s.systemUpdate(ctx, s.guardKey(), "closed") })
	case 3:
		s.spawn("erase", func(ctx context.Context, t *txntest.Task) { s.erase(t) })
	case 4:
		s.advances = 15
		s.spawn("sweep", func(ctx context.Context, t *txntest.Task) { s.sweep(t) })
	}
}

// erase removes all records of the store, as the erasure of a user does.
func (s *scenario) erase(t *txntest.Task) {
	if _, err := s.DeleteWhere(context.Background(), storage.Selector{Prefix: storePrefix(s.tenant)}, 100); err != nil {
		s.Fail("erase: %w", err)
	}
	s.observe(t)
}

// sweep removes expired records.
func (s *scenario) sweep(t *txntest.Task) {
	group, _ := storePrefix(s.tenant).Group()
	if _, err := s.DeleteWhere(context.Background(), storage.Selector{Group: group, Expired: s.clock}, 100); err != nil {
		s.Fail("sweep: %w", err)
	}
	s.observe(t)
}

// maybeAdvance advances the clock with the probability that the scenario defines.
func (s *scenario) maybeAdvance() {
	if s.Rand.IntN(100) < s.advances {
		s.clock = s.clock.Add(pick(s.Rand, time.Microsecond, time.Second, time.Second, 61*time.Second))
		s.events = append(s.events, "clock "+clockText(s.clock))
	}
}

func (s *scenario) addRun(p program) {
	h := &runHistory{id: fmt.Sprintf("r%d", len(s.runs)), program: p}
	s.runs = append(s.runs, h)
	db := s.dbs[s.Rand.IntN(len(s.dbs))]
	h.task = s.spawn(h.id, func(ctx context.Context, a *txntest.Task) {
		o := txn.Options{ID: h.id, Live: lifeOf, Guards: []txn.Guard{{Key: s.guardKey(), Check: func(r storage.Record, _ time.Time) error {
			if string(r.Content) == "closed" {
				return errClosed
			}
			return nil
		}}}}
		h.out, h.err = db.Run(ctx, o, func(ctx context.Context, tx *txn.Tx) error { return s.execute(ctx, h, tx) })
	})
	h.task.OnRead = func([]storage.Key, []storage.Record) {
		w := s.model
		h.snapshot, h.at = &w, s.clock
	}
}

// execute executes one attempt of a run.
func (s *scenario) execute(ctx context.Context, h *runHistory, tx *txn.Tx) error {
	if h.task.Lost() > 0 {
		s.Fail("%s was executed again after a lost reply", h.id)
	}
	seed, err := tx.Seed()
	if err != nil {
		s.Fail("seed: %w", err)
	}
	if h.attempts++; h.attempts > 1 && (h.stamp != tx.Now() || h.seed != seed) {
		s.Fail("%s has another time or seed than in its previous attempt", h.id)
	}
	h.stamp, h.seed, h.snapshot, h.trace, h.over = tx.Now(), seed, nil, nil, false
	r := &runner{tenant: s.tenant, tx: realTx{ctx, tx}}
	r.seen = func() error {
		h.trace = r.trace
		s.events = append(s.events, fmt.Sprintf("%s sees %s", h.id, r.trace[len(r.trace)-1]))
		s.checkSeen(h)
		return nil
	}
	err = r.run(h.program)
	h.over = true
	if err != nil && err != errThrown && !errors.Is(err, txn.ErrConflict) {
		s.Fail("%s: %w", h.id, err)
	}
	return err
}

// replay executes the program of a run on the model. The execution ends at the current step of the
// attempt.
func (h *runHistory) replay(s *scenario, w modelState, at time.Time, lenient bool) (*modelTx, []string) {
	m := newModelTx(w, at, h.stamp, h.id)
	r := &runner{tenant: s.tenant, tx: m}
	if lenient {
		r.expect = h.trace
	}
	r.seen = func() error {
		if !h.over && len(r.trace) == len(h.trace) {
			return errStop
		}
		return nil
	}
	_ = r.run(h.program)
	return m, r.trace
}

// checkSeen executes the program of an attempt on the model, in the state of the attempt's last
// snapshot. The results of the attempt and of the model must be equal.
func (s *scenario) checkSeen(h *runHistory) {
	if h.snapshot == nil {
		return
	}
	if _, trace := h.replay(s, *h.snapshot, h.at, true); !slices.Equal(trace, h.trace) {
		s.Fail("the trace of %s is\n\t%s\nwant, from its snapshot,\n\t%s", h.id, strings.Join(h.trace, "\n\t"), strings.Join(trace, "\n\t"))
	}
}

// observe applies a task's update to the model, and compares the records of the model with the
// stored records.
func (s *scenario) observe(by *txntest.Task) {
	before := s.model
	stored, err := before.mirror(s.Backend, "")
	if err != nil {
		s.Fail("scan: %w", err)
		return
	}
	stored = stored.of(s.tenant)
	s.model = stored
	for _, h := range s.runs {
		if h.task != by || by == nil {
			continue
		}
		h.commits++
		s.events = append(s.events, h.id+" commits")
		m, trace := h.replay(s, before, s.clock, false)
		if !slices.Equal(trace, h.trace) {
			s.Fail("the trace of %s at its commit is\n\t%s\nwant, from the state before it,\n\t%s", h.id, strings.Join(h.trace, "\n\t"), strings.Join(trace, "\n\t"))
		}
		if !s.open(&before) {
			s.Fail("%s committed although the guard was closed", h.id)
		}
		want := m.commit()
		if d := want.differs(stored); d != "" {
			s.Fail("%s committed: %s", h.id, d)
		}
		s.model, h.committed = want, m
		s.model.records = stored.records // these records have generations
		return
	}
	if by != nil {
		s.events = append(s.events, fmt.Sprintf("stored by %s", by))
	}
}

// The method "of" returns the state of one tenant.
func (w modelState) of(tenant string) modelState {
	w = w.clone()
	for key := range w.records {
		if key.Part(storage.Tenant) != tenant {
			delete(w.records, key)
		}
	}
	return w
}

// checkEnd checks the final outcome of a run.
func (s *scenario) checkEnd(h *runHistory) {
	lost := h.task.Lost() > 0
	switch {
	case errors.Is(h.err, storage.ErrUnknownOutcome):
		if !lost {
			s.Fail("%s has an unknown outcome, but no reply was lost", h.id)
		}
		return
	case h.err == errClosed:
		if s.open(&s.model) || h.commits > 0 {
			s.Fail("%s was rejected without a reason", h.id)
		}
		return
	case h.err != nil && h.err != errThrown:
		s.Fail("%s: %w", h.id, h.err)
		return
	}
	if h.committed == nil {
		s.checkSeen(h)
		if h.snapshot != nil && !s.open(h.snapshot) {
			s.Fail("%s succeeded although the guard was closed", h.id)
		}
	}
	s.checkEffects(h)
}

func (s *scenario) checkEffects(h *runHistory) {
	wrote := h.committed != nil
	if wrote != h.out.Committed || h.commits > 1 || wrote && h.err != nil || wrote != (len(h.out.Writes) > 0) || h.out.Attempts != h.attempts {
		s.Fail("%s: %d commits, %d attempts, error %v, outcome %+v", h.id, h.commits, h.attempts, h.err, h.out)
	}
	if !wrote {
		return
	}
	if len(h.out.Writes) != len(h.committed.wrote) {
		s.Fail("%s reports writes %v; want %v", h.id, h.out.Writes, h.committed.order)
	}
	for _, c := range h.out.Writes {
		want, ok := h.committed.wrote[c.Key]
		if !ok || show(c.New) != show(want) {
			s.Fail("%s reports the write %s; want %s", h.id, show(c.New), show(want))
		}
		if c.Warnings == nil {
			s.Fail("%s reports no warnings of %s", h.id, c.Key)
		}
	}
	for _, r := range h.out.Reads {
		if base := h.committed.modelState.records[r.Key]; h.committed.visible(base, h.committed.at) && base.Revision != r.Revision {
			s.Fail("%s reports a read of revision %d of %s; want %d", h.id, r.Revision, r.Key, base.Revision)
		}
	}
}

func (s *scenario) String() string {
	var b strings.Builder
	for _, h := range s.runs {
		fmt.Fprintf(&b, "%s throw=%t: %v\n", h.id, h.program.throw, h.program.steps)
	}
	for _, e := range s.events {
		fmt.Fprintf(&b, "\t%s\n", e)
	}
	return b.String()
}

// mustCover lists the situations that the seeds must reach.
var mustCover = []string{
	"conflict", "two processes", "waited for a lock", "unknown outcome", "lost reply detected", "rejected by the guard",
	"nested transaction undone", "update rejected", "scan", "read-only", "thrown", "session ended", "swept", "erased", "four attempts",
}

func (s *scenario) cover(counts map[string]int) {
	note := func(situation string, covered bool) {
		if covered {
			counts[situation]++
		}
	}
	note("two processes", len(s.dbs) > 1)
	text := s.String()
	note("session ended", strings.Contains(text, "stored by end s1"))
	note("swept", strings.Contains(text, "stored by sweep"))
	note("erased", strings.Contains(text, "stored by erase"))
	for _, h := range s.runs {
		trace := strings.Join(h.trace, "\n")
		note("conflict", h.attempts > 1)
		note("four attempts", h.attempts > 3)
		note("waited for a lock", h.task.Waited())
		note("unknown outcome", errors.Is(h.err, storage.ErrUnknownOutcome))
		note("lost reply detected", h.task.Lost() > 0 && h.err == nil && h.committed != nil)
		note("rejected by the guard", h.err == errClosed)
		note("nested transaction undone", strings.Contains(trace, "nested thrown"))
		note("update rejected", strings.Contains(trace, "rejected"))
		note("scan", strings.Contains(trace, "["))
		note("read-only", h.err == nil && h.commits == 0)
		note("thrown", h.err == errThrown)
	}
}
