package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// EndSession ends the caller's session: it is refused from now on, and what lived with it is gone. Ending a
// session that has ended is fine; its end is the first one.
func (s *Service) EndSession(ctx context.Context, c Caller) (Session, error) {
	if err := c.check(); err != nil {
		return Session{}, err
	}
	if err := s.endSession(ctx, c, nil); err != nil {
		return Session{}, err
	}
	return s.Session(ctx, c)
}

var errUsedAgain = errors.New("the session has been used again")

// endSession leaves a tombstone that keeps the id refused, and frees the records that ended with the session.
// Where found is not nil, a session that is not as it was found goes on.
func (s *Service) endSession(ctx context.Context, c Caller, found *storage.Record) error {
	err := s.leaveTombstone(ctx, c, found)
	if errors.Is(err, errUsedAgain) {
		return nil
	}
	if err != nil {
		return s.hostFault("end a session", err)
	}
	return s.dropEnded(ctx, c)
}

// leaveTombstone ends a session. Its tombstone has the tag of its user, for whom an erasure or an export looks it up, and
// stays as long as the ledger can name the session.
func (s *Service) leaveTombstone(ctx context.Context, c Caller, found *storage.Record) error {
	key := s.sessionKey(c)
	return s.backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		state, err := decodeSession(now[0])
		if err != nil {
			return nil, err
		}
		if err := s.mayEnd(now[0], state, c, found); err != nil || state.Ended != nil {
			return nil, err
		}
		at := s.now()
		ended := sessionState{User: state.User, Started: state.Started, Ended: &at, Files: state.Files} // which live on
		return s.writeSession(nil, now[0], key, ended, at.Add(max(tombstone, s.ledgerRetention)), c)
	})
}

// mayEnd says why a caller may not end a session.
func (s *Service) mayEnd(r storage.Record, state sessionState, c Caller, found *storage.Record) error {
	if err := c.mayName(state); err != nil {
		return err
	}
	if !r.Exists() {
		return abi.Faultf(abi.NotFound, "there is no such session")
	}
	if state.User != "" && c.User != "" && state.User != c.User {
		return errForeign(c)
	}
	if found != nil && !r.SameVersion(*found) {
		return errUsedAgain
	}
	return nil
}

// forgetOwner takes the user out of the tombstone of a session that has ended.
func (s *Service) forgetOwner(ctx context.Context, c Caller) error {
	key, mark := s.sessionKey(c), s.erasedSessionKey(c)
	return s.backend.Update(ctx, storage.Keys(key, mark), func(now []storage.Record) ([]storage.Write, error) {
		state, err := decodeSession(now[0])
		if err != nil || state.User != c.User || state.Ended == nil {
			return nil, err
		}
		at, by := *state.Ended, Caller{Tenant: c.Tenant, Run: c.Run}
		writes, err := s.writeSystem(nil, now[0], key, sessionState{Started: state.Started, Ended: &at}, at.Add(tombstone), by)
		if err != nil {
			return nil, err
		}
		return s.writeSystem(writes, now[1], mark, struct{}{}, s.now().Add(erasedRetention), by)
	})
}
