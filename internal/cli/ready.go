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

// readyAge and unreadyAge limit the age of a reused result of a test write. readyAge applies after
// a successful write to the database, and unreadyAge applies after a failed write.
const (
	readyAge   = 10 * time.Second
	unreadyAge = time.Second
)

// The following errors are responses of /readyz, which anyone can read. The details of the errors
// are only in the log.
var (
	errFull      = abi.Faultf(abi.Unavailable, "the disk is full: only reads and deletes succeed")
	errUnwritten = abi.Faultf(abi.Unavailable, "cannot write to the database")
)

// readiness checks whether the database accepts writes. readiness reuses a result for several
// requests. readiness is safe for concurrent use.
type readiness struct {
	backend storage.Backend
	now     func() time.Time
	logger  *slog.Logger

	mu    sync.Mutex
	until time.Time // the time of the next test write
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
	case errors.Is(r.err, storage.ErrFull): // a quota was exceeded, or less space is left than the system reported
		r.note(errFull, r.err)
		return errFull
	}
	r.note(errUnwritten, r.err)
	return errUnwritten
}

// note logs why the service is not ready. note logs each reason once.
func (r *readiness) note(answer *abi.Fault, err error) {
	if !errors.Is(r.was, answer) {
		r.logger.Error("the service is not ready", "error", err)
	}
}
