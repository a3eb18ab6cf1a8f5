package host

import (
	"context"
	"slices"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// maxQueuedTurns is the maximum number of turns that wait for other turns of the same session.
const maxQueuedTurns = 32

// A turnQueue executes the turns of each session one after the other, in the order in which they
// were requested. The order of execution prevents conflicts between turns. The correctness of turns
// must not depend on the queue, because other processes have their own queues. The zero value of a
// turnQueue is ready to use. A turnQueue is safe for concurrent use.
type turnQueue struct {
	mu sync.Mutex
	// sessions contains the queue of each session. The first turn in a queue is executed, and the
	// other turns wait. Each turn has a channel. When the turn becomes the first turn in its queue,
	// its channel is closed.
	sessions map[sessionKey][]chan struct{}
}

// sessionKey identifies a queue. The key of a queue contains the user. Therefore, if a caller uses
// the session id of another user, it waits in a different queue and cannot delay the turns of the
// other user.
type sessionKey struct{ tenant, user, session string }

// enter waits until all earlier turns of the session have ended. When the turn has ended, the
// caller must call the function "leave".
func (q *turnQueue) enter(ctx context.Context, key sessionKey) (leave func(), err error) {
	own := make(chan struct{})
	if err := q.add(key, own); err != nil {
		return nil, err
	}
	leave = func() { q.remove(key, own) }
	select {
	case <-own:
		return leave, nil
	case <-ctx.Done():
		leave()
		return nil, engine.FaultFromContext(ctx)
	}
}

func (q *turnQueue) add(key sessionKey, own chan struct{}) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.sessions[key]) > maxQueuedTurns {
		return abi.Faultf(abi.Unavailable, "more than %d turns of the session are waiting", maxQueuedTurns).
			WithHint("send the next message when the agent has answered")
	}
	if q.sessions == nil {
		q.sessions = map[sessionKey][]chan struct{}{}
	}
	if q.sessions[key] = append(q.sessions[key], own); len(q.sessions[key]) == 1 {
		close(own)
	}
	return nil
}

func (q *turnQueue) remove(key sessionKey, own chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.sessions[key], own)
	q.sessions[key] = slices.Delete(q.sessions[key], i, i+1)
	switch {
	case len(q.sessions[key]) == 0:
		delete(q.sessions, key)
	case i == 0:
		close(q.sessions[key][0])
	}
}
