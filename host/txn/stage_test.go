package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"

	"github.com/toolrun/toolrun/host/storage"
)

// A stage runs actors, one at a time, in an order that follows from a seed. Actors are goroutines that pause at every
// operation of the backend; the stage waits until none of them moves, then lets one of those that paused go on. It works
// only inside a synctest bubble, which is how it knows that none moves: actors may also wait for each other's locks.
type stage struct {
	storage.Backend
	rng    *rand.Rand
	actors []*actor
	// changed is called after an operation changed what is stored, before any other actor moves.
	changed func(by *actor)
	err     error // the first thing that went wrong
	stop    context.CancelFunc
	ctx     context.Context
}

func newStage(b storage.Backend, rng *rand.Rand) *stage {
	s := &stage{Backend: b, rng: rng}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// actor is one goroutine of the stage.
type actor struct {
	stage  *stage
	name   string
	paused bool
	done   bool
	resume chan struct{}
	// read is called after the actor took a snapshot, before any other actor moves.
	read func()
	// outcome is the fate of the actor's next commit.
	outcome outcome
	// lost is true once an answer of the actor was lost, and waited once it had to wait for another actor.
	lost, waited bool
}

type outcome int

const (
	answered     outcome = iota
	lostReply            // the commit takes place, and its answer is lost
	neverArrived         // the commit does not take place, and nobody knows
)

var errLost = fmt.Errorf("lost: %w", storage.ErrUnknownOutcome)

type actorKey struct{}

func actorOf(ctx context.Context) *actor {
	a, _ := ctx.Value(actorKey{}).(*actor)
	return a
}

// fail notes what went wrong.
func (s *stage) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// spawn makes an actor of do, which begins when the stage lets it.
func (s *stage) spawn(name string, do func(context.Context, *actor)) *actor {
	a := &actor{stage: s, name: name, resume: make(chan struct{})}
	s.actors = append(s.actors, a)
	go func() {
		a.pause()
		do(context.WithValue(s.ctx, actorKey{}, a), a)
		a.done = true
	}()
	return a
}

func (a *actor) pause() {
	if a == nil {
		return
	}
	a.paused = true
	<-a.resume
}

// mostMoves is far more than any scenario needs.
const mostMoves = 20_000

// play moves the actors until all are done. Between two moves it calls meanwhile.
func (s *stage) play(meanwhile func()) {
	for moves := 0; ; moves++ {
		synctest.Wait()
		var ready []*actor
		for _, a := range s.actors {
			if a.paused {
				ready = append(ready, a)
			}
			a.waited = a.waited || !a.paused && !a.done
		}
		if len(ready) == 0 {
			if slices.ContainsFunc(s.actors, func(a *actor) bool { return !a.done }) {
				s.fail("deadlock: the actors wait for each other")
			}
			return
		}
		if moves == mostMoves {
			s.fail("livelock: the actors move for ever")
			s.stop()
		}
		meanwhile()
		a := ready[s.rng.IntN(len(ready))]
		a.paused = false
		a.resume <- struct{}{}
	}
}

// Read implements storage.Backend.
func (s *stage) Read(ctx context.Context, want []storage.Key, held storage.Held) ([]storage.Record, storage.Position, error) {
	a := actorOf(ctx)
	a.pause()
	records, at, err := s.Backend.Read(ctx, want, held)
	if err == nil && a != nil && a.read != nil {
		a.read()
	}
	return records, at, err
}

// Heads implements storage.Backend.
func (s *stage) Heads(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Head, error) {
	actorOf(ctx).pause()
	return s.Backend.Heads(ctx, prefix, after, limit)
}

// Update implements storage.Backend.
func (s *stage) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	a := actorOf(ctx)
	a.pause()
	how := answered
	if a != nil {
		how, a.outcome = a.outcome, answered
	}
	err := s.Backend.Update(ctx, on, func(now []storage.Record) ([]storage.Write, error) {
		writes, err := fn(now)
		if err == nil && how == neverArrived {
			return nil, errLost
		}
		return writes, err
	})
	if err == nil {
		s.changed(a)
	}
	a.pause() // done, but nobody knows yet
	if err == nil && how == lostReply {
		err = errLost
	}
	if errors.Is(err, errLost) {
		a.lost = true
	}
	return err
}
