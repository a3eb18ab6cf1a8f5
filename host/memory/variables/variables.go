// Package variables implements the kind of store that contains the state of agents. Each record
// contains a JSON object. The host always replaces the whole object. Guests cannot call operations
// of this kind.
//
// The item of a record is the owner of the state. The owner is an agent. If all agents share the
// state, the owner is the session. Variables that are never reset belong to the user, so they have
// separate items.
package variables

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/kind"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/schema"
)

// Session is the item that is used if all agents of a session share the state. No agent has this
// name, because the names of agents cannot contain a dot.
const Session = "session.state"

// Kept returns the item for an agent's variables that are never reset. Variables that are never
// reset belong to the user. Without a user, they belong to the session.
func Kept(agent string, hasUser bool) string {
	if hasUser {
		return keptPrefix + agent
	}
	return "session." + keptPrefix + agent
}

// AgentOfKept returns the agent that belongs to an item from Kept. If the item is not a result of
// Kept, AgentOfKept returns false.
func AgentOfKept(item string) (agent string, ok bool) {
	return strings.CutPrefix(strings.TrimPrefix(item, "session."), keptPrefix)
}

const keptPrefix = "kept."

// Kind is the kind of the store that contains the state of agents.
type Kind struct{}

var _ kind.Kind = Kind{}

// Name implements kind.Kind.
func (Kind) Name() declare.Kind { return declare.KindVariables }

// Operations implements kind.Kind. Operations returns an empty result, because guests cannot access
// the store.
func (Kind) Operations() abi.Table { return nil }

// Compile implements kind.Kind.
func (Kind) Compile(decl declare.Store, _ kind.Limits) (kind.Store, error) {
	if decl.Schema != nil {
		return nil, errors.New("the state of agents has no schema")
	}
	return store{}, nil
}

// store is the compiled store of the state of agents.
type store struct{}

var _ kind.Scoped = store{}

// Scope implements kind.Scoped.
func (store) Scope(item string) declare.Scope {
	if strings.HasPrefix(item, keptPrefix) {
		return declare.ScopeUser
	}
	return declare.ScopeSession
}

// Call implements kind.Store. Call is never called, because the kind has no operations.
func (store) Call(_ context.Context, _ kind.Partition, call abi.Call) (json.RawMessage, error) {
	return nil, abi.Faultf(abi.InvalidArgument, "the state of agents has no operation %s", kind.Quote(call.Op))
}

// Fits implements kind.Store.
func (store) Fits(r storage.Record) bool { return json.Valid(r.Content) }

// Show implements kind.Store.
func (store) Show(content []byte) json.RawMessage { return content }

// Public implements kind.Store.
func (store) Public(string) string { return "" }

// Mistakes implements kind.Store.
func (store) Mistakes() schema.Errors { return nil }
