package declare

import "time"

// Agents is the name of a built-in store. This store contains the state of agents.
const Agents = "agents"

// KindVariables is the kind of the store of agents. Guests have no operations on the store of
// agents.
const KindVariables Kind = "variables"

// AgentStore returns the declaration of the store of agents.
func AgentStore() Store {
	return Store{Name: Agents, Kind: KindVariables, Access: ScopeByItem}
}

// KeptFor is a duration. Variables that are never reset are kept for this duration after they were
// last used.
const KeptFor = 30 * 24 * time.Hour
