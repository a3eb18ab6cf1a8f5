package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/txn/txntest"
)

// TestSchedules interleaves small random programs. A switch between programs is possible at every
// operation of the backend. Then the test searches for a serial order of the runs. If the model
// executes the runs in this order, it must return the same replies and end with the same records.
func TestSchedules(t *testing.T) {
	txntest.Schedules{MemSeeds: 2000, BoltSeeds: 400, Play: playSeed, MustCover: mustCover}.Run(t)
}

func playSeed(t *testing.T, b storage.Backend, seed uint64, covered map[string]int) {
	s := newScenario(t, b, seed)
	if err := s.Run(s.meanwhile); err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, s)
	}
	wide := memory.Limits{RecordBytes: 1 << 20, AppRecords: 1 << 20, AppBytes: 1 << 30}
	if !explain(newWorld(s.start, wide), s.allEvents(), s.sameEnd) {
		t.Fatalf("seed %d: no order of the runs explains what they saw\n%s", seed, s)
	}
	s.unjustified(t)
	s.cover(covered)
}

// A scenario contains the runs and the other events of one seed.
type scenario struct {
	*txntest.Scheduler
	seed   uint64
	tenant string
	clock  *clock
	start  time.Time
	hosts  []*memory.Service
	stores []string
	runs   []*runHistory
	others []event // events of the environment
	// advances is the probability in percent that the clock advances between two moves of the
	// scheduler.
	advances int
	troubles []string
}

var palette = []partition.Caller{
	{User: "ann", Session: "s1"}, {User: "ann", Session: "s1"}, {User: "ann", Session: "s1"}, {User: "ann"}, {User: "ann"},
	{User: "ann", Session: "s2"}, {User: "bob", Session: "s3"}, {Session: "s4"}, {User: "ann", Session: "s4"},
}

var paletteSessions = []string{"s1", "s2", "s3", "s4"}

// tenantOf returns a suitable tenant: In this tenant, no two records of a store share a floor. A
// floor is the stored minimum of the revisions of new records. If records shared a floor, the model
// would need to know the time of each removal.
func tenantOf(seed uint64) string {
	for n := 0; ; n++ {
		tenant := fmt.Sprintf("t%d-%d", seed, n)
		floors, shared := map[storage.Key]bool{}, false
		for name, st := range modelStores {
			owners := []string{""}
			switch st.access {
			case declare.ScopeUser:
				owners = []string{"user ann", "user bob"}
			case declare.ScopeSession:
				owners = []string{"session s1", "session s2", "session s3", "session s4"}
			}
			for _, owner := range owners {
				floor := storage.FloorKey(place{name, owner}.key(tenant))
				shared = shared || floors[floor]
				floors[floor] = true
			}
		}
		if !shared {
			return tenant
		}
	}
}

func newScenario(t *testing.T, b storage.Backend, seed uint64) *scenario {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &scenario{Scheduler: txntest.NewScheduler(b, rng), seed: seed, tenant: tenantOf(seed), clock: newClock()}
	s.start = s.clock.Now()
	for range 1 + max(0, rng.IntN(3)-1) {
		host, err := memory.New(memory.Config{
			App: "shop", Backend: s.Scheduler, Stores: modelDeclarations(), Now: s.clock.Now, SessionIdle: 1000 * time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		s.hosts = append(s.hosts, host)
	}
	stores := []string{"notes", "prefs", "daily", "last", "cart", "flags"}
	rng.Shuffle(len(stores), func(i, j int) { stores[i], stores[j] = stores[j], stores[i] })
	s.stores = stores[:2+rng.IntN(3)]
	s.prepare(t)
	switch rng.IntN(20) {
	case 0, 1, 2:
		s.addSuccessors(choose(rng, s.stores...), choose(rng, s.stores...))
	case 3:
		s.addBlindMerges()
	case 4:
		s.addExpiry(choose(rng, s.stores...))
	case 5:
		s.addLateRead(s.stores[0], s.stores[1])
	}
	for len(s.Tasks()) < 2 || len(s.Tasks()) < 4 && rng.IntN(3) > 0 {
		s.addRun(randomProgram(rng, s.stores))
	}
	if rng.IntN(6) == 0 {
		i := rng.IntN(len(s.Tasks()))
		s.runs[len(s.runs)-len(s.Tasks())+i].fault = choose(rng, txntest.ReplyLost, txntest.RequestLost)
	}
	s.addEnvironment()
	return s
}

// prepare writes records to some stores before the runs begin.
func (s *scenario) prepare(t *testing.T) {
	p := program{}
	for _, name := range s.stores {
		if s.Rand.IntN(3) > 0 {
			p.steps = append(p.steps, step{op: abi.SetContent, args: []string{`"` + name + `"`, randomContent(s.Rand)}, catch: true})
		}
	}
	s.addRun(p)
	if err := s.Run(func() {}); err != nil {
		t.Fatalf("seed %d: %v", s.seed, err)
	}
}

// The method meanwhile is called between two moves of the scheduler and sometimes advances the
// clock.
func (s *scenario) meanwhile() {
	if s.Rand.IntN(100) >= s.advances {
		return
	}
	d := choose(s.Rand, time.Second, 2*time.Minute, 7*time.Minute, 11*time.Minute)
	s.clock.Advance(d)
	s.others = append(s.others, event{name: "advance " + d.String(), begin: s.Step(), end: s.Step(), after: -1, apply: func(w world) []world {
		w = w.clone()
		w.now = w.now.Add(d)
		return []world{w}
	}})
}

// allEvents returns the events of the runs and of the environment.
func (s *scenario) allEvents() []event {
	all := slices.Clone(s.others) // an event refers to other events by their indexes
	for i, h := range s.runs {
		all = append(all, h.events(i, len(all))...)
	}
	return all
}

func (s *scenario) String() string {
	text := ""
	for _, h := range s.runs {
		text += h.String()
	}
	for _, e := range s.others {
		text += fmt.Sprintf("%s, moves %d-%d\n", e.name, e.begin, e.end)
	}
	return text
}
