package session

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
)

// Session describes a session.
type Session struct {
	ID string `json:"session_id"`
	// User is the id of the user of the session. User is "" while the session is anonymous, and
	// after its user was erased.
	User string `json:"user_id,omitempty"`
	// Reference and UserReference are the platform's own ids of the session and its user.
	Reference     string `json:"session_reference,omitempty"`
	UserReference string `json:"user_reference,omitempty"`
	// Metadata is a JSON object. The host sets the metadata, and guests read the metadata in
	// sessionMeta.
	Metadata json.RawMessage `json:"metadata"`
	Started  time.Time       `json:"started"`
	Used     time.Time       `json:"used"`
	// Ended is the time at which the session ended, or nil if the session is open.
	Ended *time.Time `json:"ended,omitempty"`
}

// State is the stored form of a session or a workflow. The zero State is the state of a session or
// a workflow that has not started. A workflow has no references, metadata and files.
type State struct {
	User          string          `json:"user,omitempty"`
	Reference     string          `json:"reference,omitempty"`
	UserReference string          `json:"user_reference,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	Started       time.Time       `json:"started"`
	Ended         *time.Time      `json:"ended,omitempty"`
	// Files is the list of the session's files in the format of package artifact, or nil. The list
	// is kept after the session has ended.
	Files json.RawMessage `json:"files,omitempty"`
}

// Decode decodes the record of a session or a workflow. If the record is invalid, the error is
// storage.ErrCorrupt.
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

// Start contains the data that a caller provides when the caller starts or changes a session.
type Start struct {
	// Reference and UserReference are the platform's own ids of the session and its user, in UTF-8.
	// "" means no change.
	Reference     string
	UserReference string
	// Metadata is a JSON Merge Patch (RFC 7396) for the session's metadata, or nil.
	Metadata json.RawMessage
}

// check returns a fault if a reference is not valid UTF-8 and therefore cannot be stored as JSON.
func (start Start) check() error {
	if !utf8.ValidString(start.Reference) || !utf8.ValidString(start.UserReference) {
		return abi.Faultf(abi.InvalidArgument, "the session reference and the user reference must be valid UTF-8")
	}
	return nil
}
