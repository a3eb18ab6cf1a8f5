package host

import (
	"context"
	"sync"

	"github.com/toolrun/toolrun/host/memory"
)

// maxSleepRounds is the maximum number of rounds that SleepRounds remembers.
const maxSleepRounds = 1000

// SleepRounds contains the positions of sleep-time memory in the queues of apps and tenants. With
// many due conversations, the users take turns in rounds that cover several calls of Sleep.RunDue.
// If a program opens and closes hosts, its hosts should share SleepRounds, so that a round
// continues after its host has been closed. The zero value is ready to use. SleepRounds is safe for
// concurrent use.
type SleepRounds struct {
	mu     sync.Mutex
	rounds map[sleepQueueKey]*sleepRound // the map contains only rounds that have not ended, or are in use
}

// sleepQueueKey identifies the queue of an app in a tenant.
type sleepQueueKey struct{ app, tenant string }

// sleepRound is the round over one queue.
type sleepRound struct {
	mu    sync.Mutex
	round memory.Round // guarded by mu
	uses  int          // guarded by SleepRounds.mu
}

// next returns the next records of a queue, and at most one record for each user.
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

// release ends the use of a round and forgets the round if it has ended. If there are too many
// rounds, release forgets another round: the next round over the queue of the forgotten round
// starts from the beginning.
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
