package cli

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// How long it stays known that the database can be written, and that it cannot.
const (
	readyAge   = 10 * time.Second
	unreadyAge = time.Second
)

// What /readyz reports, to anybody: the log has more.
var (
	errFull      = abi.Faultf(abi.Unavailable, "the disk is full: what is stored can be read and removed")
	errUnwritten = abi.Faultf(abi.Unavailable, "the database cannot be written")
)

// readiness finds out whether the database takes writes, without writing at each question. It is safe for concurrent
// use.
type readiness struct {
	backend storage.Backend
	now     func() time.Time
	logger  *slog.Logger

	mu    sync.Mutex
	until time.Time // when it has to be written again
	err   error     // of the last attempt
	was   error     // what was answered last
}

// check returns a fault in words for everybody if the database has no room or cannot be written.
func (r *readiness) check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.look(ctx)
	if !errors.Is(err, r.was) {
		r.was = err
		if err == nil {
			r.logger.Info("the service is ready again")
		}
	}
	return err
}

func (r *readiness) look(ctx context.Context) error {
	if err := storage.Space(r.backend); err != nil {
		r.note(errFull, err)
		return errFull
	}
	if now := r.now(); !now.Before(r.until) {
		r.err, r.until = r.backend.Ping(ctx), now.Add(readyAge)
		if r.err != nil {
			r.until = now.Add(unreadyAge)
		}
	}
	switch {
	case r.err == nil:
		return nil
	case errors.Is(r.err, storage.ErrFull): // a quota, or a disk that is fuller than it looked
		r.note(errFull, r.err)
		return errFull
	}
	r.note(errUnwritten, r.err)
	return errUnwritten
}

// note logs why the service is not ready, once.
func (r *readiness) note(answer *abi.Fault, err error) {
	if !errors.Is(r.was, answer) {
		r.logger.Error("the service is not ready", "error", err)
	}
}
