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

// KeptFor is the time for which variables that are never reset are kept after their last use.
const KeptFor = 30 * 24 * time.Hour
