package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"

	"github.com/toolrun/toolrun/host/storage"
)

// A stage runs actors, one at a time, in an order that follows from a seed. Actors are goroutines that pause at
// every operation of the backend and wherever they say so; the stage waits until nobody moves, then lets one
// of those who paused go on. It works inside a synctest bubble only, which is how it knows that nobody moves:
// actors may also wait for each other, as runs do that wait for their turns.
type stage struct {
	storage.Backend
	rng    *rand.Rand
	now    int // counts the moves
	actors []*actor
}

// actor is one goroutine of the stage.
type actor struct {
	stage  *stage
	name   string
	paused bool
	done   bool
	resume chan struct{}

	// seen are the records that the actor's reads of the present attempt found.
	seen map[storage.Key]storage.Record
	// wrote and dropped, where set, are told what the actor did to the backend.
	wrote   func([]storage.Write)
	dropped func(storage.Selector)
	// outcome, where set, is how the actor's next commit is answered.
	outcome outcome
	// writing is true from the first call of a body: updates are then commits.
	writing bool
	// lost is the move in which an answer of the actor was lost, 0 for none.
	lost int
	// waited is true once the actor had to wait for another one.
	waited bool
	// passed is true once an attempt looked again at a record that had changed since its first look, as a commit does
	// whose merges are blind.
	passed bool
}

// outcome is how an update of the backend is answered.
type outcome int

const (
	answered     outcome = iota
	lostReply            // it takes place, and its answer is lost
	neverArrived         // it does not take place, and nobody knows
)

var errLost = fmt.Errorf("lost: %w", storage.ErrUnknownOutcome)

type actorKey struct{}

func newStage(b storage.Backend, rng *rand.Rand) *stage { return &stage{Backend: b, rng: rng} }

// spawn makes an actor of do, which begins when the stage lets it.
func (s *stage) spawn(name string, do func(ctx context.Context, a *actor)) *actor {
	a := &actor{stage: s, name: name, resume: make(chan struct{})}
	s.actors = append(s.actors, a)
	go func() {
		a.pause()
		do(context.WithValue(context.Background(), actorKey{}, a), a)
		a.done = true
	}()
	return a
}

// pause waits until the stage lets the actor go on.
func (a *actor) pause() {
	a.paused = true
	<-a.resume
}

var (
	errDeadlock = errors.New("nobody can move: the actors wait for each other")
	errLivelock = errors.New("the actors move for ever")
)

// mostMoves is far more than any scenario needs.
const mostMoves = 100_000

// play moves the actors until all are done. Between two moves it calls meanwhile.
func (s *stage) play(meanwhile func()) error {
	for {
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
				return errDeadlock
			}
			return nil
		}
		if s.now > mostMoves {
			return errLivelock
		}
		s.now++
		meanwhile()
		s.now++
		a := ready[s.rng.IntN(len(ready))]
		a.paused = false
		a.resume <- struct{}{}
	}
}

func actorOf(ctx context.Context) *actor {
	a, _ := ctx.Value(actorKey{}).(*actor)
	return a
}

// Get implements storage.Backend.
func (s *stage) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	a := actorOf(ctx)
	if a == nil {
		return s.Backend.Get(ctx, keys...)
	}
	a.pause()
	found, err := s.Backend.Get(ctx, keys...)
	for i := range found {
		if a.seen != nil {
			a.seen[keys[i]] = found[i]
		}
	}
	return found, err
}

// Read implements storage.Backend.
func (s *stage) Read(ctx context.Context, want []storage.Key, held storage.Held) ([]storage.Record, storage.Position, error) {
	a := actorOf(ctx)
	if a == nil {
		return s.Backend.Read(ctx, want, held)
	}
	a.pause()
	found, at, err := s.Backend.Read(ctx, want, held)
	for i := range found {
		if was, looked := a.seen[want[i]]; looked && found[i].Exists() && !was.SameVersion(found[i]) {
			a.passed = true
		}
		if a.seen != nil {
			a.seen[want[i]] = found[i]
		}
	}
	return found, at, err
}

// Scan implements storage.Backend.
func (s *stage) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	if a := actorOf(ctx); a != nil {
		a.pause()
	}
	return s.Backend.Scan(ctx, prefix, after, limit)
}

// Heads implements storage.Backend.
func (s *stage) Heads(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Head, error) {
	if a := actorOf(ctx); a != nil {
		a.pause()
	}
	return s.Backend.Heads(ctx, prefix, after, limit)
}

// Usage implements storage.Backend.
func (s *stage) Usage(ctx context.Context, accounts ...storage.Key) ([]storage.Usage, error) {
	if a := actorOf(ctx); a != nil {
		a.pause()
	}
	return s.Backend.Usage(ctx, accounts...)
}

// ScanTag implements storage.Backend.
func (s *stage) ScanTag(ctx context.Context, what storage.Selector, after storage.Key, limit int) ([]storage.Head, error) {
	if a := actorOf(ctx); a != nil {
		a.pause()
	}
	return s.Backend.ScanTag(ctx, what, after, limit)
}

// DeleteWhere implements storage.Backend.
func (s *stage) DeleteWhere(ctx context.Context, what storage.Selector, limit int) ([]storage.Head, error) {
	a := actorOf(ctx)
	if a != nil {
		a.pause()
	}
	if a != nil && a.dropped != nil {
		a.dropped(what)
	}
	return s.Backend.DeleteWhere(ctx, what, limit)
}

// Update implements storage.Backend.
func (s *stage) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	a := actorOf(ctx)
	if a == nil {
		return s.Backend.Update(ctx, on, fn)
	}
	a.pause()
	how := answered
	if a.writing {
		how, a.outcome = a.outcome, answered
	}
	var writes []storage.Write
	err := s.Backend.Update(ctx, on, func(now []storage.Record) (_ []storage.Write, err error) {
		writes, err = fn(now)
		a.passed = a.passed || err == nil && a.writing && a.writesChanged(now, writes)
		if err == nil && how == neverArrived {
			return nil, errLost
		}
		return writes, err
	})
	if err == nil && a.wrote != nil {
		a.wrote(writes)
	}
	a.pause() // done, but nobody knows yet
	if err == nil && how == lostReply {
		err = errLost
	}
	if errors.Is(err, errLost) {
		a.lost = s.now
	}
	return err
}

// writesChanged reports whether a write goes to a record that is not what the actor saw.
func (a *actor) writesChanged(now []storage.Record, writes []storage.Write) bool {
	for _, r := range now {
		was, looked := a.seen[r.Key]
		written := slices.ContainsFunc(writes, func(w storage.Write) bool { return w.Record.Key == r.Key })
		if r.Exists() && looked && written && !was.SameVersion(r) {
			return true
		}
	}
	return false
}
