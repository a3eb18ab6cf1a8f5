package journal_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/journal"
)

// TestCallSchedules executes a run again and again. The attempts end at random times, the calls are
// concurrent and have random durations, and the run is sometimes paused. Each unsafe call must be
// made only once, and every attempt must get the same answers.
func TestCallSchedules(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			newSchedule(t, seed).run()
		})
	}
}

// schedule describes a run: its calls, and the random duration of each call.
type schedule struct {
	t        *testing.T
	seed     uint64
	random   *rand.Rand
	requests []journal.Request
	took     []time.Duration

	mu       sync.Mutex
	calls    map[string]int    // by idempotency key
	unsafe   map[string]bool   // the idempotency keys of unsafe calls
	answers  map[string]string // the answers, in the order of the calls in the run
	complete int
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	s := &schedule{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 17)), calls: map[string]int{}, unsafe: map[string]bool{}, answers: map[string]string{}}
	for i := range 2 + s.random.IntN(12) {
		body := fmt.Sprint(s.random.IntN(3)) // so few bodies that some requests are equal
		if i%3 == 0 {
			body = fmt.Sprint("own ", i)
		}
		s.requests = append(s.requests, journal.Request{Kind: "chat", Target: body, Body: []byte(body), Safe: body == "2"})
		s.took = append(s.took, time.Duration(s.random.IntN(40))*time.Millisecond)
	}
	return s
}

func (s *schedule) run() {
	limits := journal.Limits{LiveAttempts: 1000}
	j := journal.New("run", limits)
	for range 2 + s.random.IntN(6) {
		s.attempt(j, time.Duration(s.random.IntN(100))*time.Millisecond)
		if s.random.IntN(3) == 0 {
			j = restored(s.t, j, limits)
		}
	}
	s.attempt(j, time.Hour) // the last attempt completes
	if s.complete == 0 {
		s.t.Errorf("seed %d: no attempt completed", s.seed)
	}
	if len(j.Orphans()) > 0 {
		s.t.Errorf("seed %d: Orphans() = %v; want none, since all attempts make the same calls", s.seed, names(j.Orphans()))
	}
	for key, calls := range s.calls {
		if s.unsafe[key] && calls != 1 {
			s.t.Errorf("seed %d: an unsafe call was made %d times; want once", s.seed, calls)
		}
	}
}

// attempt makes the calls of the run until the run ends. Three calls are in flight at a time.
func (s *schedule) attempt(j *journal.Journal, limit time.Duration) {
	a, err := j.Begin()
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	finished := make(chan struct{})
	go func() { defer close(finished); s.execute(ctx, a) }()
	select {
	case <-finished:
		s.complete++
	case <-time.After(limit):
		if s.random.IntN(2) == 0 {
			cancel()
		}
	}
	if err := a.End(s.t.Context()); err != nil {
		s.t.Errorf("seed %d: End() = %v", s.seed, err)
	}
	cancel()
	<-finished
}

func (s *schedule) execute(ctx context.Context, a *journal.Attempt) {
	for first := 0; first < len(s.requests); first += 3 {
		var group sync.WaitGroup
		last := min(first+3, len(s.requests))
		for i := first; i < last; i++ {
			group.Go(func() { s.do(ctx, a, i) })
			time.Sleep(time.Nanosecond) // with the fake clock, this fixes the order of equal requests
		}
		group.Wait()
	}
}

func (s *schedule) do(ctx context.Context, a *journal.Attempt, i int) {
	answer, err := a.Do(ctx, s.requests[i], func(ctx context.Context, key string) ([]byte, error) {
		s.mu.Lock()
		s.calls[key]++
		s.unsafe[key] = !s.requests[i].Safe
		answer := fmt.Sprint(key, s.calls[key])
		s.mu.Unlock()
		select {
		case <-time.After(s.took[i]):
			return []byte(answer), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	if errors.Is(err, abi.Cancelled) {
		return // the attempt ended
	}
	if err != nil {
		s.t.Errorf("seed %d: call %d: Do() = %v", s.seed, i, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	place := fmt.Sprint(i)
	if before, ok := s.answers[place]; ok && before != string(answer) {
		s.t.Errorf("seed %d: call %d got %q; want %q as in an earlier attempt", s.seed, i, answer, before)
	}
	s.answers[place] = string(answer)
}
