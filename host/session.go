package host

import (
	"context"

	"github.com/toolrun/toolrun/host/session"
)

// Sessions is a handle for the sessions of an app. Sessions is safe for concurrent use.
type Sessions struct{ h *Host }

// Sessions returns a handle for the app's sessions.
func (h *Host) Sessions() Sessions { return Sessions{h} }

// Start starts the caller's session. If the session is already open, Start updates its metadata and
// references. If the caller has no session, Start creates a session id.
func (s Sessions) Start(ctx context.Context, caller Caller, start session.Start) (session.Session, error) {
	if caller.Session == "" {
		id, err := s.h.newID("sess")
		if err != nil {
			return session.Session{}, err
		}
		caller.Session, caller.Confined = id, false // the host has chosen the id
	}
	started, err := s.h.memory.Sessions().Start(ctx, caller.as(""), start)
	if err == nil {
		for _, o := range s.h.observers {
			o.SessionStarted(ctx, caller)
		}
	}
	return started, err
}

// End ends the caller's session and removes its data. When a session has ended, the host rejects
// requests that have the id of this session. If an agent answers in the session, End first fires
// the event session:end for this agent, and evaluates the agent's triggers.
func (s Sessions) End(ctx context.Context, caller Caller) (session.Session, error) {
	s.fireSessionEnd(ctx, caller)
	ended, err := s.h.memory.Sessions().End(ctx, caller.as(""))
	if err == nil {
		s.settle(ctx, caller, ended.User)
		for _, o := range s.h.observers {
			o.SessionEnded(ctx, caller)
		}
	}
	return ended, err
}

// Get returns the caller's session, even if the session has ended. If the session does not exist,
// the error is abi.NotFound. If it belongs to another user, the error is abi.AccessDenied.
func (s Sessions) Get(ctx context.Context, caller Caller) (session.Session, error) {
	return s.h.memory.Sessions().Get(ctx, caller.as(""))
}

// List returns a page of sessions, sorted by id. The page contains at most the given number of
// sessions. The page starts after the session whose id is the argument "after". To get the next
// page, pass the result "next" as the argument "after". The result "next" is "" on the last page.
// If the caller has a user, List returns only sessions that belong to this user and are open. A
// page can contain fewer sessions than the limit allows, even if it is not the last page.
func (s Sessions) List(ctx context.Context, caller Caller, after string, limit int) (found []session.Session, next string, err error) {
	err = s.h.admitted(ctx, caller, func() (err error) {
		found, next, err = s.h.memory.Sessions().List(ctx, caller.as(""), after, limit)
		return err
	})
	return found, next, err
}

// withUser adds the user who owns the caller's session or workflow if an operator passes a caller
// without a user. A run does not use withUser: the caller of a run must contain the user.
func (s Sessions) withUser(ctx context.Context, caller Caller) Caller {
	if caller.User == "" && caller.Session != "" {
		if found, err := s.Get(ctx, caller); err == nil {
			caller.User = found.User
		}
	}
	if caller.User == "" && caller.Workflow != "" {
		if found, err := s.h.Workflows().Get(ctx, caller); err == nil {
			caller.User = found.User
		}
	}
	return caller
}
