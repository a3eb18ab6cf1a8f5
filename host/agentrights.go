package host

import (
	"cmp"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// hostAgent contains the rights of an agent.
type hostAgent struct {
	// authority contains the rights on facts. The authority covers the facts that the agent
	// declares, with the ACCESS of each fact. The authority also covers the targets of triggers. If
	// a trigger appends to a fact, the trigger can read the fact even if the agent cannot.
	authority memory.Authority
	// context contains the rights of recalls. A recall can read all facts that the field
	// "authority" covers. A recall can also read the paths that it names and the facts that no
	// agent declares.
	context memory.Authority
	// domains contains the facts that recalls can load, by domain.
	domains map[string][]string
}

// agentsOf returns the rights of each agent of an app. The keys of the map are the names of the
// agents.
func agentsOf(a *app.App) map[string]*hostAgent {
	agents := make(map[string]*hostAgent, len(a.Agents))
	shared := sharedFacts(a)
	for _, d := range a.Agents {
		agents[d.Agent.Value] = rightsOf(d, shared)
	}
	return agents
}

// sharedFacts returns the facts of the app that no agent declares. All agents can recall these
// facts, because no agent has restricted the access to them or declared them as sensitive.
func sharedFacts(a *app.App) []declare.Fact {
	declared := map[string]bool{}
	for _, d := range a.Agents {
		for _, f := range d.Memory.Persistent {
			declared[f.Value] = true
		}
		for _, t := range d.Memory.Triggers {
			declared[t.Target.Value] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(a.Facts), func(f declare.Fact) bool { return declared[f.Path] })
}

var accessVerbs = map[abl.Access][]abi.Verb{
	abl.AccessRead: {abi.Read}, abl.AccessWrite: {abi.Write, abi.Delete}, abl.AccessReadWrite: {abi.Read, abi.Write, abi.Delete},
}

func rightsOf(d *abl.Document, shared []declare.Fact) *hostAgent {
	a := &hostAgent{domains: map[string][]string{}}
	var grants []declare.Grant
	add := func(path, domain string, access abl.Access) {
		if slices.ContainsFunc(grants, func(g declare.Grant) bool { return g.Item == path }) {
			return
		}
		grants = append(grants, declare.Grant{Store: declare.Facts, Item: path, Verbs: accessVerbs[cmp.Or(access, abl.AccessReadWrite)]})
		domain = cmp.Or(domain, declare.FactDomain(path))
		a.domains[domain] = append(a.domains[domain], path)
	}
	for _, f := range d.Memory.Persistent {
		add(f.Value, f.Domain, f.Access)
	}
	for _, t := range d.Memory.Triggers {
		add(t.Target.Value, t.Domain, abl.AccessReadWrite)
		i := slices.IndexFunc(grants, func(g declare.Grant) bool { return g.Item == t.Target.Value })
		if t.Operation == abl.OperationAppend && !slices.Contains(grants[i].Verbs, abi.Read) {
			grants[i].Verbs = append(slices.Clone(grants[i].Verbs), abi.Read)
		}
	}
	a.authority = memory.Granted(grants)
	for _, recall := range d.Memory.Recalls {
		for _, path := range recall.Paths {
			add(path.Value, "", abl.AccessRead)
		}
	}
	for _, f := range shared {
		add(f.Path, f.Domain, abl.AccessRead)
	}
	a.context = memory.Granted(grants)
	return a
}
