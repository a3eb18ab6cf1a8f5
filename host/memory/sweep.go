package memory

import (
	"context"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// sweepDelay is how long after its end a record is freed. Expired records are invisible at once; waiting
// to free them keeps a clock that runs ahead from destroying what is alive.
const sweepDelay = time.Hour

// Sweep frees records whose lifetime ended more than an hour ago and ends the sessions of a tenant that
// nobody used for session_idle. It works in bounded chunks, at most limit records a call, and returns how many
// it freed; fewer than limit means that there is nothing more to do.
func (s *Service) Sweep(ctx context.Context, tenant string, limit int) (int, error) {
	at := s.now().Add(-sweepDelay)
	n, err := s.backend.Sweep(ctx, at, limit)
	if err != nil {
		return n, s.hostFault("sweep", err)
	}
	c := Caller{Tenant: tenant}
	err = s.scan(ctx, s.system(systemSession, c), func(sessions []storage.Record) error {
		for _, r := range sessions {
			if !r.Expires.IsZero() || at.Before(s.idleEnd(r)) {
				continue
			}
			if err := s.endIdle(ctx, c, r); err != nil {
				return err
			}
		}
		return nil
	})
	return n, s.hostFault("sweep", err)
}

// endIdle ends a session that was found idle, unless it has been used since.
func (s *Service) endIdle(ctx context.Context, c Caller, found storage.Record) error {
	c.Session = found.Key.Part(storage.Session)
	return s.endSession(ctx, c, false, &found)
}
