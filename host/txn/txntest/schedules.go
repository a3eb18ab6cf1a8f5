package txntest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// Use the following flags of the test binary to run more seeds, or to repeat a seed that failed:
//
//	go test ./host/txn -run Schedules -schedule.seeds 1000000
//	go test ./host/txn -run Schedules -schedule.first 4711 -schedule.seeds 1
var (
	firstSeed = flag.Uint64("schedule.first", 1, "the first seed of TestSchedules")
	seedCount = flag.Uint64("schedule.seeds", 0, "the number of seeds on each backend; 0 for the default, which must cover all situations")
)

// If the environment variable TOOLRUN_SOAK is set, the following constants are the numbers of seeds
// on each backend.
const (
	soakMemSeeds  = 50_000
	soakBoltSeeds = 10_000
)

// Schedules is a test that runs many seeds on each backend.
type Schedules struct {
	// MemSeeds is the default number of seeds on the backend mem. BoltSeeds is the default number
	// of seeds on the backend bolt.
	MemSeeds, BoltSeeds uint64
	// Play runs one seed in a synctest bubble. If an error occurs, Play fails the test. The map
	// "covered" contains a count for each situation. For each situation that occurred, Play
	// increments the count in "covered". All seeds use the same backend, so each seed must use a
	// separate tenant.
	Play func(t *testing.T, b storage.Backend, seed uint64, covered map[string]int)
	// MustCover lists the situations that the default seeds must reach.
	MustCover []string
}

// Run runs the test.
func (s Schedules) Run(t *testing.T) {
	covered := map[string]int{}
	t.Run("mem", func(t *testing.T) {
		open := func(*testing.T) storage.Backend { return mem.New() }
		s.play(t, count(s.MemSeeds, soakMemSeeds), 1, open, covered)
	})
	t.Run("bolt", func(t *testing.T) {
		s.play(t, count(s.BoltSeeds, soakBoltSeeds), 100, openBolt, covered)
	})
	t.Log(covered)
	for _, what := range s.MustCover {
		if *seedCount == 0 && covered[what] == 0 && !t.Failed() {
			t.Errorf("no seed covered this case: %s", what)
		}
	}
}

// count returns the number of seeds to run.
func count(normal, soak uint64) uint64 {
	switch {
	case *seedCount > 0:
		return *seedCount
	case os.Getenv("TOOLRUN_SOAK") != "":
		return soak
	}
	return normal
}

// play runs the test with many seeds. The argument "share" is the number of seeds on one backend.
func (s Schedules) play(t *testing.T, seeds, share uint64, open func(t *testing.T) storage.Backend, covered map[string]int) {
	end := *firstSeed + seeds
	for first := *firstSeed; first < end && !t.Failed(); first += share {
		synctest.Test(t, func(t *testing.T) {
			b := open(t)
			defer b.Close()
			for seed := first; seed < min(first+share, end); seed++ {
				s.Play(t, b, seed, covered)
			}
		})
	}
	t.Logf("%d seeds from %d", seeds, *firstSeed)
}

func openBolt(t *testing.T) storage.Backend {
	b, err := bolt.Open(filepath.Join(t.TempDir(), "db"), &bolt.Options{UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
