package session

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

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

// State is a session as it is stored. The zero State is one that has not begun.
type State struct {
	User          string          `json:"user,omitempty"`
	Reference     string          `json:"reference,omitempty"`
	UserReference string          `json:"user_reference,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	Started       time.Time       `json:"started"`
	Ended         *time.Time      `json:"ended,omitempty"`
	// Files is the list of the session's files, which package artifact reads and writes; nil for none. It outlives the end.
	Files json.RawMessage `json:"files,omitempty"`
}

// Decode reads the state of a session's record; its error is storage.ErrCorrupt.
func Decode(r storage.Record) (State, error) {
	var state State
	if !r.Exists() {
		return state, nil
	}
	if err := json.Unmarshal(r.Content, &state); err != nil {
		return state, fmt.Errorf("session record: %w: %w", storage.ErrCorrupt, err)
	}
	return state, nil
}

// Start is what a session may be given when it starts.
type Start struct {
	// Reference and UserReference are the platform's own names, in UTF-8; "" leaves those that the session has.
	Reference     string
	UserReference string
	// Metadata is a merge patch (RFC 7396) on the session's metadata; nil for none.
	Metadata json.RawMessage
}

// check refuses references that JSON cannot hold: they would be stored as others.
func (start Start) check() error {
	if !utf8.ValidString(start.Reference) || !utf8.ValidString(start.UserReference) {
		return abi.Faultf(abi.InvalidArgument, "the references of a session and its user must be UTF-8")
	}
	return nil
}

// mayName refuses a confined caller a session that is not the user's. The answer is the same for a session of another
// user, an anonymous one and none at all: it must not report which ids exist.
func mayName(c partition.Caller, state State) error {
	if !c.Confined || c.Session == "" || c.User != "" && state.User == c.User {
		return nil
	}
	return abi.Faultf(abi.AccessDenied, "the user has no session of this id").
		WithHint("start a session without an id, which makes one, or use credentials whose session claim names it")
}

// errForeign refuses a session of another user.
func errForeign(c partition.Caller) error {
	f := abi.Faultf(abi.AccessDenied, "the session belongs to another user")
	if c.User == "" {
		return f.WithHint("name the session's user with user_id")
	}
	return f.WithHint("a session is used by the user who started it")
}

func errNone() error { return abi.Faultf(abi.NotFound, "there is no such session") }
