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

// The result of a test write is reused. readyAge is the maximum age of a successful result, and
// unreadyAge is the maximum age of a failed result.
const (
	readyAge   = 10 * time.Second
	unreadyAge = time.Second
)

// The following errors are responses of /readyz. Anyone can read the responses. Only the log
// contains the details of the errors.
var (
	errFull      = abi.Faultf(abi.Unavailable, "the disk is full: only reads and deletes succeed")
	errUnwritten = abi.Faultf(abi.Unavailable, "cannot write to the database")
)

// readiness checks whether the database accepts writes. Several requests can share the result of
// one check. readiness is safe for concurrent use.
type readiness struct {
	backend storage.Backend
	now     func() time.Time
	logger  *slog.Logger

	mu    sync.Mutex
	until time.Time // no test write is needed before this time
	err   error     // the result of the last test write
	was   error     // last result of check
}

// check returns a fault without details if the database is full or cannot be written.
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
	case errors.Is(r.err, storage.ErrFull): // the system has reported too much free space
		r.note(errFull, r.err)
		return errFull
	}
	r.note(errUnwritten, r.err)
	return errUnwritten
}

// note logs why the service is not ready. If the reason has not changed, the method logs nothing.
func (r *readiness) note(answer *abi.Fault, err error) {
	if !errors.Is(r.was, answer) {
		r.logger.Error("the service is not ready", "error", err)
	}
}
