package host

import (
	"context"

	"github.com/toolrun/toolrun/host/memory"
)

// StartSession starts the caller's session, or changes the metadata and references of one that is open.
// Where the caller names no session, it gets one with a new id.
func (h *Host) StartSession(ctx context.Context, caller Caller, start memory.SessionStart) (memory.Session, error) {
	if caller.Session == "" {
		id, err := h.newID("sess")
		if err != nil {
			return memory.Session{}, err
		}
		caller.Session, caller.Confined = id, false // the id is the host's
	}
	session, err := h.memory.StartSession(ctx, h.caller(caller, ""), start)
	if err == nil {
		for _, o := range h.observers {
			o.SessionStarted(ctx, caller)
		}
	}
	return session, err
}

// EndSession ends the caller's session: what lived with it is gone, and its id is refused from now on.
func (h *Host) EndSession(ctx context.Context, caller Caller) (memory.Session, error) {
	session, err := h.memory.EndSession(ctx, h.caller(caller, ""))
	if err == nil {
		for _, o := range h.observers {
			o.SessionEnded(ctx, caller)
		}
	}
	return session, err
}

// Session describes the caller's session.
func (h *Host) Session(ctx context.Context, caller Caller) (memory.Session, error) {
	return h.memory.Session(ctx, h.caller(caller, ""))
}

// Sessions returns a page of sessions after an id, and the after of the page that follows, "" where there is none; those
// of the caller's user, as far as they are open, where it has one. A page may hold less than limit.
func (h *Host) Sessions(ctx context.Context, caller Caller, after string, limit int) (found []memory.Session, next string, err error) {
	err = h.admitted(ctx, caller, func() (err error) {
		found, next, err = h.memory.Sessions(ctx, h.caller(caller, ""), after, limit)
		return err
	})
	return found, next, err
}
