package host

import (
	"context"

	"github.com/toolrun/toolrun/host/session"
)

// Sessions is a handle for the sessions of an app. It is safe for concurrent use.
type Sessions struct{ h *Host }

// Sessions returns a handle for the app's sessions.
func (h *Host) Sessions() Sessions { return Sessions{h} }

// Start starts the caller's session, or updates the metadata and references of an open one. For a
// caller without a session it creates an id.
func (s Sessions) Start(ctx context.Context, caller Caller, start session.Start) (session.Session, error) {
	if caller.Session == "" {
		id, err := s.h.newID("sess")
		if err != nil {
			return session.Session{}, err
		}
		caller.Session, caller.Confined = id, false // the host created the id
	}
	started, err := s.h.memory.Sessions().Start(ctx, caller.as(""), start)
	if err == nil {
		for _, o := range s.h.observers {
			o.SessionStarted(ctx, caller)
		}
	}
	return started, err
}

// End ends the caller's session: its data is removed, and its id is rejected from now on.
func (s Sessions) End(ctx context.Context, caller Caller) (session.Session, error) {
	ended, err := s.h.memory.Sessions().End(ctx, caller.as(""))
	if err == nil {
		for _, o := range s.h.observers {
			o.SessionEnded(ctx, caller)
		}
	}
	return ended, err
}

// Get returns the caller's session, also if it has ended. The error is abi.NotFound if there is
// none, and abi.AccessDenied if it belongs to another user.
func (s Sessions) Get(ctx context.Context, caller Caller) (session.Session, error) {
	return s.h.memory.Sessions().Get(ctx, caller.as(""))
}

// List returns a page of sessions after an id. Next is the after of the next page, "" at the end.
// For a caller with a user it returns only open sessions of that user. A page may be shorter than
// limit.
func (s Sessions) List(ctx context.Context, caller Caller, after string, limit int) (found []session.Session, next string, err error) {
	err = s.h.admitted(ctx, caller, func() (err error) {
		found, next, err = s.h.memory.Sessions().List(ctx, caller.as(""), after, limit)
		return err
	})
	return found, next, err
}

// withUser adds the session's user to an operator's caller that names only a session. A guest's
// caller must name the user itself.
func (s Sessions) withUser(ctx context.Context, caller Caller) Caller {
	if caller.User != "" || caller.Session == "" {
		return caller
	}
	if found, err := s.Get(ctx, caller); err == nil {
		caller.User = found.User
	}
	return caller
}
