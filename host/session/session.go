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
	// User is the user who started the session or was bound to it. It is "" while the session is
	// anonymous, and after its user was erased.
	User string `json:"user_id,omitempty"`
	// Reference and UserReference are the platform's names for the session and its user.
	Reference     string `json:"session_reference,omitempty"`
	UserReference string `json:"user_reference,omitempty"`
	// Metadata is a JSON object that the host sets and guests read in sessionMeta.
	Metadata json.RawMessage `json:"metadata"`
	Started  time.Time       `json:"started"`
	Used     time.Time       `json:"used"`
	// Ended is when the session ended, nil while it is open.
	Ended *time.Time `json:"ended,omitempty"`
}

// State is the stored form of a session. The zero State is a session that has not begun.
type State struct {
	User          string          `json:"user,omitempty"`
	Reference     string          `json:"reference,omitempty"`
	UserReference string          `json:"user_reference,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	Started       time.Time       `json:"started"`
	Ended         *time.Time      `json:"ended,omitempty"`
	// Files is the list of the session's files, in the format of package artifact; nil for none. It
	// is kept after the session has ended.
	Files json.RawMessage `json:"files,omitempty"`
}

// Decode returns the state in a session's record. Its error is storage.ErrCorrupt.
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

// Start is the data of a session's start.
type Start struct {
	// Reference and UserReference are the platform's names in UTF-8. "" keeps the present ones.
	Reference     string
	UserReference string
	// Metadata is a merge patch (RFC 7396) on the session's metadata; nil for none.
	Metadata json.RawMessage
}

// check returns a fault if a reference cannot be stored as JSON without change.
func (start Start) check() error {
	if !utf8.ValidString(start.Reference) || !utf8.ValidString(start.UserReference) {
		return abi.Faultf(abi.InvalidArgument, "the references of a session and its user must be UTF-8")
	}
	return nil
}

// checkConfined returns a fault if a confined caller names a session that is not bound to its user.
// The fault is the same for a session of another user, an anonymous one and none at all, so that it
// does not reveal which ids exist.
func checkConfined(c partition.Caller, state State) error {
	if !c.Confined || c.Session == "" || c.User != "" && state.User == c.User {
		return nil
	}
	return abi.Faultf(abi.AccessDenied, "the user has no session with this id").
		WithHint("start a session without an id, or use a token whose session claim names this one")
}

// errOtherUser returns the fault for a session of another user.
func errOtherUser(c partition.Caller) error {
	f := abi.Faultf(abi.AccessDenied, "the session belongs to another user")
	if c.User == "" {
		return f.WithHint("set user_id to the session's user")
	}
	return f.WithHint("only the user who started a session can use it")
}

func errNotFound() error { return abi.Faultf(abi.NotFound, "the session does not exist") }
