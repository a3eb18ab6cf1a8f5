package host

import (
	"context"
	"sync"

	"github.com/toolrun/toolrun/host/memory"
)

// maxSleepRounds is the maximum number of rounds that SleepRounds remembers.
const maxSleepRounds = 1000

// SleepRounds contains the current position in each queue of sleep-time memory. Sleep-time memory
// has a queue for each app and tenant. If many conversations are due, the users take turns. In each
// round, each user has one turn, and a round can take several calls of Sleep.RunDue. If a program
// opens and closes hosts, they should share SleepRounds. A round then continues after a host has
// been closed. The zero value of SleepRounds is ready to use. SleepRounds is safe for concurrent
// use.
type SleepRounds struct {
	mu     sync.Mutex
	rounds map[sleepQueueKey]*sleepRound // a round is removed when it has ended and is not in use
}

// sleepQueueKey identifies the queue that an app has in a tenant.
type sleepQueueKey struct{ app, tenant string }

// sleepRound is the round over one queue.
type sleepRound struct {
	mu    sync.Mutex
	round memory.Round // guarded by mu
	uses  int          // guarded by SleepRounds.mu
}

// The method "next" returns the next records of a queue. The method "next" returns at most one
// record for each user.
func (s *SleepRounds) next(ctx context.Context, queue memory.SleepQueue, key sleepQueueKey) ([]memory.Due, error) {
	r := s.use(key)
	r.mu.Lock()
	due, err := queue.Next(ctx, key.tenant, &r.round, sleepBatch)
	ended := r.round.Ended()
	r.mu.Unlock()
	s.release(key, r, ended)
	return due, err
}

func (s *SleepRounds) use(key sleepQueueKey) *sleepRound {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rounds == nil {
		s.rounds = map[sleepQueueKey]*sleepRound{}
	}
	if s.rounds[key] == nil {
		s.rounds[key] = &sleepRound{}
	}
	s.rounds[key].uses++
	return s.rounds[key]
}

// release ends the use of a round. If the round has ended, it is forgotten. If there are too many
// rounds, another round is also forgotten. The queue of this round is then processed from its
// beginning.
func (s *SleepRounds) release(key sleepQueueKey, r *sleepRound, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.uses--
	if ended && r.uses == 0 {
		delete(s.rounds, key)
	}
	for key, other := range s.rounds {
		if len(s.rounds) <= maxSleepRounds {
			return
		}
		if other.uses == 0 {
			delete(s.rounds, key)
		}
	}
}
