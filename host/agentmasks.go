package host

import (
	"encoding/json"
	"slices"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory/variables"
	"github.com/toolrun/toolrun/host/report"
)

// shownChanges returns the changes of a dry turn. The agents declare which values are sensitive,
// and these values are masked.
func shownChanges(set *agent.Set, changes []report.Change) []report.Change {
	changes = slices.Clone(changes)
	for i := range changes {
		c := &changes[i]
		show := func(content json.RawMessage) json.RawMessage { return content }
		switch c.Store {
		case declare.Facts:
			show = func(content json.RawMessage) json.RawMessage { return set.ShowFact(c.Item, content) }
		case declare.Agents:
			show = func(content json.RawMessage) json.RawMessage { return shownState(set, c.Item, content) }
		}
		c.Before, c.After = show(c.Before), show(c.After)
	}
	return changes
}

// shownState returns the state of an agent. The state is stored under the name in the argument
// "item". The agents declare which values are sensitive, and these values are masked.
func shownState(set *agent.Set, item string, content json.RawMessage) json.RawMessage {
	if item == variables.Session {
		return set.ShowSession(content)
	}
	if name, ok := variables.AgentOfKept(item); ok {
		return set.ShowKept(name, content)
	}
	return set.ShowState(item, content)
}
