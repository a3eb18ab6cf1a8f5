package declare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// Scope determines the owner of a record in a store. The owner is a session, a workflow, a user or
// the app. In app files, the scope of a store is the value of the key "access".
type Scope string

// The scopes.
const (
	ScopeSession     Scope = "session"     // one record per session
	ScopeUser        Scope = "user"        // per user, across sessions
	ScopeWorkflow    Scope = "workflow"    // per workflow or, without a workflow, per session; only for facts
	ScopeApplication Scope = "application" // for the app, so all users share the records
	ScopeByItem      Scope = "item"        // the kind of the store determines the owner of a record
)

// Kind is the kind that a store has. Kind determines how many records the store has, and how they
// are written.
type Kind string

// KindDocument is the kind of stores that contain JSON documents. Such a store has one document for
// each session, one for each user, or one for the app. When a guest writes to the store, the
// content is merged into the document.
const KindDocument Kind = "document"

// SessionMeta is the name of a built-in store. This store describes the session. Guests can only
// read this store.
const SessionMeta = "sessionMeta"

// Store is the declaration of a store.
type Store struct {
	// Name is the name that guests use for the store; see CheckName.
	Name string
	// Title and Description are texts for people.
	Title       string
	Description string
	Kind        Kind
	Access      Scope
	Retention   Retention
	// Resource is true if clients that list resources, such as MCP clients, can see the store.
	Resource bool
	// If Strict is true, a write that does not match the schema is rejected. If Strict is false, a
	// write that does not match the schema is stored, with a warning.
	Strict bool
	// Schema is the text of a JSON Schema. Schema can be nil.
	Schema json.RawMessage
	// Facts contains the declared facts of the store of facts, in the order of their declaration.
	Facts []Fact
	// Block is the declaration of the block in the store, if the kind of the store is KindBlock.
	Block Block
	// Collection is the declaration of the collection in the store, if the kind of the store is
	// KindCollection.
	Collection Collection
}

var nameRule = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// CheckName returns an error if the argument "name" is not a valid name of a store. CheckName
// cannot compare names. The caller must ensure that the names of two stores are never equal, and
// never differ only by case.
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
