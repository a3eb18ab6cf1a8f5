package declare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// Scope determines the owner of a record in a store. The owner is a session, a workflow, a user or
// the app. The scope is the value of the key "access" in app files.
type Scope string

// The scopes.
const (
	ScopeSession     Scope = "session"     // one record per session
	ScopeUser        Scope = "user"        // per user, across sessions
	ScopeWorkflow    Scope = "workflow"    // per workflow, or per session outside of workflows; only for facts
	ScopeApplication Scope = "application" // for the app, shared by all users
	ScopeByItem      Scope = "item"        // the kind of the store determines the owner of each record
)

// Kind is the kind of a store. Kind determines how many records the store has, and how they are
// written.
type Kind string

// KindDocument is the kind of stores with one JSON document for each session, each user or the app.
// The content of a write is merged into the document.
const KindDocument Kind = "document"

// SessionMeta is the name of the built-in store that describes the session. SessionMeta is
// read-only for guests.
const SessionMeta = "sessionMeta"

// Store is the declaration of a store.
type Store struct {
	// Name is the name of the store in guests; see CheckName.
	Name string
	// Title and Description are shown to people.
	Title       string
	Description string
	Kind        Kind
	Access      Scope
	Retention   Retention
	// Resource is true if the store is exposed to clients that list resources, such as MCP clients.
	Resource bool
	// If Strict is true, writes that do not match the schema are rejected. If Strict is false, such
	// writes are stored and cause a warning.
	Strict bool
	// Schema is the text of a JSON Schema, or nil.
	Schema json.RawMessage
	// Facts are the declared facts of the store of facts, in the order of the declaration.
	Facts []Fact
	// Block is the declaration of the block that a store of the kind KindBlock contains.
	Block Block
	// Collection is the declaration of the collection that a store of the kind KindCollection contains.
	Collection Collection
}

var nameRule = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// CheckName returns an error if name is not a valid store name. The caller must check that names
// are unique and do not differ only by case.
func CheckName(name string) error {
	if strings.EqualFold(name, SessionMeta) {
		return fmt.Errorf("the name %q is reserved for the built-in store", SessionMeta)
	}
	if strings.EqualFold(name, Agents) {
		return fmt.Errorf("the name %q is reserved for the state of agents", Agents)
	}
	if strings.EqualFold(name, Transcripts) {
		return fmt.Errorf("the name %q is reserved for the transcripts of sessions", Transcripts)
	}
	if strings.EqualFold(name, Facts) {
		return fmt.Errorf("the name %q is reserved for facts", Facts)
	}
	if reservedForBlocks(name) {
		return fmt.Errorf("the name %q is reserved for blocks", strings.ToLower(name))
	}
	if !nameRule().MatchString(name) {
		return fmt.Errorf("invalid store name %q: use a letter and up to 63 more letters, digits, _ or -", name)
	}
	return nil
}
