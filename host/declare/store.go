package declare

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Scope is whose memory a store is. App files call it access.
type Scope string

// The scopes.
const (
	ScopeSession     Scope = "session"     // one session's
	ScopeUser        Scope = "user"        // one user's, over all sessions
	ScopeApplication Scope = "application" // the app's, shared by all users
)

// Kind is how many records a store has and how they are written.
type Kind string

// KindDocument is a store with one JSON document per scope, which is merged into.
const KindDocument Kind = "document"

// SessionMeta is the name of the built-in store that describes the session. Guests may only read it.
const SessionMeta = "sessionMeta"

// Store is the declaration of a piece of memory.
type Store struct {
	// Name is the technical name that guests use; see CheckName.
	Name string
	// Title and Description are for people.
	Title       string
	Description string
	Kind        Kind
	Access      Scope
	Retention   Retention
	// Resource shows the store to clients that list resources, such as those of MCP.
	Resource bool
	// Strict refuses writes that do not fit the schema; otherwise they are stored with a warning.
	Strict bool
	// Schema is a JSON Schema as text, or nil for none.
	Schema json.RawMessage
}

var nameRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// CheckName returns an error if name cannot be the technical name of a store. That names are unique, regardless of case,
// is for the caller to check.
func CheckName(name string) error {
	if strings.EqualFold(name, SessionMeta) {
		return fmt.Errorf("the name %q is reserved for the built-in store", SessionMeta)
	}
	if !nameRule.MatchString(name) {
		return fmt.Errorf("%q is not a technical name: it takes a letter, then up to 63 letters, digits, _ or -", name)
	}
	return nil
}
