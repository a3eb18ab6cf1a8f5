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
// nobody used for session_idle, and keeps the ledger within its bound. It works in bounded chunks, at most limit records a call, and returns how many
// it freed; fewer than limit means that there is nothing more to do.
func (s *Service) Sweep(ctx context.Context, tenant string, limit int) (int, error) {
	at := s.now().Add(-sweepDelay)
	n, err := s.backend.Sweep(ctx, "", at, limit)
	if err != nil {
		return n, s.hostFault("sweep", err)
	}
	if err := s.trimLedger(ctx, tenant); err != nil {
		return n, s.hostFault("trim the ledger", err)
	}
	c := Caller{Tenant: tenant}
	err = s.scan(ctx, s.system(systemSession, c), func(sessions []storage.Record) error {
		for _, r := range sessions {
			if err := s.sweepSession(ctx, c, r, at); err != nil {
				return err
			}
		}
		return nil
	})
	return n, s.hostFault("sweep", err)
}

// sweepSession ends a session that was found idle, unless it has been used since, and frees what a session left
// that ended lately: whoever ended it may have died before that was done.
func (s *Service) sweepSession(ctx context.Context, c Caller, found storage.Record, at time.Time) error {
	c.Session = found.Key.Part(storage.Session)
	ended := !found.Expires.IsZero()
	switch {
	case ended && found.Updated.After(at):
		return s.dropAll(ctx, storage.Selector{End: endTag(found.Key)})
	case ended || at.Before(s.idleEnd(found)):
		return nil
	}
	return s.endSession(ctx, c, &found)
}
