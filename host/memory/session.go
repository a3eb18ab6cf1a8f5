package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// tombstone is how long an ended session's id stays refused.
const tombstone = 30 * 24 * time.Hour

// dropChunk is how many records are looked for at a time.
const dropChunk = 256

// Session describes a session.
type Session struct {
	ID string `json:"session_id"`
	// User is who started it or was bound to it; "" while it is anonymous, and once its user was erased.
	User string `json:"user_id,omitempty"`
	// Reference and UserReference are the platform's own names for the session and its user.
	Reference     string `json:"session_reference,omitempty"`
	UserReference string `json:"user_reference,omitempty"`
	// Metadata is a JSON object that the host sets and guests read in sessionMeta.
	Metadata json.RawMessage `json:"metadata"`
	Started  time.Time       `json:"started"`
	Used     time.Time       `json:"used"`
	// Ended is when the session ended, nil while it is open.
	Ended *time.Time `json:"ended,omitempty"`
}

// sessionState is a session as it is stored.
type sessionState struct {
	User          string          `json:"user,omitempty"`
	Reference     string          `json:"reference,omitempty"`
	UserReference string          `json:"user_reference,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	Started       time.Time       `json:"started"`
	Ended         *time.Time      `json:"ended,omitempty"`
	Files         []Artifact      `json:"files,omitempty"`
}

func decodeSession(r storage.Record) (sessionState, error) {
	var state sessionState
	if !r.Exists() {
		return state, nil
	}
	if err := json.Unmarshal(r.Content, &state); err != nil {
		return state, fmt.Errorf("session record: %w: %w", storage.ErrCorrupt, err)
	}
	return state, nil
}

// isSession reports whether a key is that of a session.
func isSession(key storage.Key) bool { return key.HasPrefix(sessionPrefix) }

var sessionPrefix = storage.MakeKey(storage.Part{Tag: storage.System, Value: systemSession})

// sessionOpen reports whether a session record says that the session is open. An ended one is a tombstone that
// expires; an open one has no end but by not being used.
func (s *Service) sessionOpen(r storage.Record, at time.Time) bool {
	return r.Exists() && r.Expires.IsZero() && at.Before(s.idleEnd(r))
}

// idleEnd is when a session that is not used any more has ended. Uses are noted no more often than every eighth
// of session_idle, so that a reading run writes nothing: hence the eighth more.
func (s *Service) idleEnd(r storage.Record) time.Time {
	return r.Updated.Add(s.sessionIdle + s.sessionIdle/8)
}

// checkSession says why a caller may not use a session.
func (s *Service) checkSession(r storage.Record, state sessionState, c Caller, at time.Time) error {
	if err := c.mayName(state); err != nil {
		return err
	}
	ended := r.Exists() && !s.sessionOpen(r, at)
	if state.User != "" && state.User != c.User && !(ended && c.User == "") {
		return errForeign(c)
	}
	if ended {
		return abi.Faultf(abi.SessionEnded, "the session has ended").WithHint("start a new session with another id")
	}
	return nil
}

// mayName refuses a confined caller a session that is not the user's. The answer is the same for a session of another
// user, an anonymous one and none at all: it must not report which ids exist.
func (c Caller) mayName(state sessionState) error {
	if !c.Confined || c.Session == "" || c.User != "" && state.User == c.User {
		return nil
	}
	return abi.Faultf(abi.AccessDenied, "the user has no session of this id").
		WithHint("start a session without an id, which makes one, or use credentials whose session claim names it")
}

// errForeign refuses a session of another user.
func errForeign(c Caller) error {
	f := abi.Faultf(abi.AccessDenied, "the session belongs to another user")
	if c.User == "" {
		return f.WithHint("name the session's user with user_id")
	}
	return f.WithHint("a session is used by the user who started it")
}

// SessionStart is what a session may be given when it starts.
type SessionStart struct {
	// Reference and UserReference are the platform's own names, in UTF-8; "" leaves what there is.
	Reference     string
	UserReference string
	// Metadata is a merge patch (RFC 7396) on the session's metadata; nil for none.
	Metadata json.RawMessage
}

// check refuses references that JSON cannot hold: stored, they would come back as others.
func (start SessionStart) check() error {
	if !utf8.ValidString(start.Reference) || !utf8.ValidString(start.UserReference) {
		return abi.Faultf(abi.InvalidArgument, "the references of a session and its user must be UTF-8")
	}
	return nil
}

// StartSession starts the caller's session, or changes the metadata and references of one that is open.
func (s *Service) StartSession(ctx context.Context, c Caller, start SessionStart) (Session, error) {
	if c.Session == "" {
		return Session{}, abi.Faultf(abi.InvalidArgument, "a session needs an id")
	}
	if err := c.check(); err != nil {
		return Session{}, err
	}
	if err := s.useSession(ctx, c, start); err != nil {
		return Session{}, err
	}
	return s.Session(ctx, c)
}

// useSession makes sure that the caller's session is there, open, the caller's and recently used, and applies
// what it is given. It writes only where there is something to write.
func (s *Service) useSession(ctx context.Context, c Caller, start SessionStart) error {
	patch, err := s.metadataPatch(start.Metadata)
	if err != nil {
		return err
	}
	if err := start.check(); err != nil {
		return err
	}
	key := s.sessionKey(c)
	err = s.update(ctx, c, []storage.Key{key}, func(now []storage.Record) ([]storage.Write, error) {
		state, err := s.nextSession(now[0], c, start, patch)
		if err != nil {
			return nil, err
		}
		return s.writeSession(nil, now[0], key, state, time.Time{}, c)
	})
	return s.hostFault("use a session", err)
}

// writeSession adds the record of a session to writes. It belongs to the session's user, whoever writes it.
func (s *Service) writeSession(writes []storage.Write, now storage.Record, key storage.Key, state sessionState, expires time.Time, c Caller) ([]storage.Write, error) {
	c.User = state.User
	return s.writeSystem(writes, now, key, state, expires, c)
}

// nextSession returns the session's state after a use.
func (s *Service) nextSession(r storage.Record, c Caller, start SessionStart, patch any) (sessionState, error) {
	state, err := decodeSession(r)
	if err != nil {
		return state, err
	}
	now := s.now()
	if err := s.checkSession(r, state, c, now); err != nil {
		return state, err
	}
	if !r.Exists() {
		state.Started = now
	}
	if state.User == "" {
		state.User = c.User // an anonymous session is bound once
	}
	return s.with(state, start, patch)
}

// given is a session with what it would be given.
func (s *Service) given(state sessionState, start SessionStart) (sessionState, error) {
	patch, err := s.metadataPatch(start.Metadata)
	if err != nil {
		return state, err
	}
	return s.with(state, start, patch)
}

// with is a session with new references and a merge patch on its metadata.
func (s *Service) with(state sessionState, start SessionStart, patch any) (_ sessionState, err error) {
	if start.Reference != "" {
		state.Reference = start.Reference
	}
	if start.UserReference != "" {
		state.UserReference = start.UserReference
	}
	if patch != nil {
		if state.Metadata, err = s.mergeMetadata(state.Metadata, patch); err != nil {
			return state, err
		}
	}
	return state, nil
}

func (s *Service) metadataPatch(text json.RawMessage) (any, error) {
	if isAbsent(text) {
		return nil, nil
	}
	if err := s.checkValue(text); err != nil {
		return nil, err
	}
	patch, err := decodeChecked(text)
	if err != nil {
		return nil, err
	}
	if _, ok := patch.(map[string]any); !ok {
		return nil, abi.Faultf(abi.InvalidArgument, "the session's metadata must be an object")
	}
	return patch, nil
}

func (s *Service) mergeMetadata(old json.RawMessage, patch any) (json.RawMessage, error) {
	var before any = map[string]any{}
	if len(old) > 0 {
		decoded, err := decodeChecked(old)
		if err != nil {
			return nil, err
		}
		before = decoded
	}
	return s.encode(merge(before, patch))
}

// writeSystem adds to writes one of the host's own records, with the revision after now's.
func (s *Service) writeSystem(writes []storage.Write, now storage.Record, key storage.Key, state any, expires time.Time, c Caller) ([]storage.Write, error) {
	content, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	return s.writeContent(writes, now, key, content, expires, c), nil
}

// writeContent is writeSystem for a state that is JSON already.
func (s *Service) writeContent(writes []storage.Write, now storage.Record, key storage.Key, content []byte, expires time.Time, c Caller) []storage.Write {
	at := s.now()
	r := storage.Record{
		Key: key, Content: content, Revision: now.Revision + 1, Generation: now.Generation,
		Created: now.Created, Updated: at, Expires: expires, Run: c.Run, Tags: tags(key, c, ""),
	}
	if !now.Exists() {
		r.Created = at
	}
	return append(writes, storage.Write{Record: r})
}

// hostFault is what a caller may know of an error of the host's own work on the backend.
func (s *Service) hostFault(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*abi.Fault](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.unavailable(doing, err)
}

// Session returns the caller's session; not_found where there is none, access_denied where it is another user's.
func (s *Service) Session(ctx context.Context, c Caller) (Session, error) {
	if err := c.check(); err != nil {
		return Session{}, err
	}
	records, err := s.backend.Get(ctx, s.sessionKey(c))
	if err != nil {
		return Session{}, s.hostFault("read a session", err)
	}
	session, err := s.describe(records[0])
	if err != nil {
		return Session{}, err
	}
	if err := c.mayName(sessionState{User: session.User}); err != nil {
		return Session{}, err
	}
	if !records[0].Exists() {
		return Session{}, abi.Faultf(abi.NotFound, "there is no such session")
	}
	if c.User != "" && session.User != "" && session.User != c.User {
		return Session{}, errForeign(c)
	}
	return session, nil
}

func (s *Service) describe(r storage.Record) (Session, error) {
	state, err := decodeSession(r)
	if err != nil {
		return Session{}, s.hostFault("read a session", err)
	}
	session := Session{
		ID: r.Key.Part(storage.Session), User: state.User, Reference: state.Reference, UserReference: state.UserReference,
		Metadata: state.Metadata, Started: state.Started, Used: r.Updated, Ended: state.Ended,
	}
	if len(session.Metadata) == 0 {
		session.Metadata = json.RawMessage("{}")
	}
	if end := s.idleEnd(r); session.Ended == nil && !s.now().Before(end) {
		session.Ended = &end
	}
	return session, nil
}

// dropEnded removes the records that ended with the caller's session.
func (s *Service) dropEnded(ctx context.Context, c Caller) error {
	_, err := s.drop(ctx, s.tagged(c, sessionTag(c.Session), ""), func(storage.Head) {})
	return s.hostFault("remove records", err)
}
