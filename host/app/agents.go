package app

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

const (
	// agentExtension is the extension of the files of agents.
	agentExtension = ".abl"
	// agentFolder is a folder in the app's folder. Both folders are searched for agents.
	agentFolder = "agents"
	// maxAgents is the maximum number of agents that an app can have.
	maxAgents = 100
)

// agentReader reads the section "agents" of the app file. agentReader also reads the agent files.
type agentReader struct {
	fieldReader
	files *fileReader
}

// agents reads the agents of the app. The agents declare facts, which the method adds to the app.
// The argument "positions" contains the positions of the facts in the app file. The method adds the
// positions of facts that only agents declare.
func (r *agentReader) agents(n *node, a *App, positions map[string]position) map[string]position {
	if a.AgentFiles = r.names(n); r.files.fsys == nil { // an import reads no files
		return positions
	}
	at := position{file: "."}
	if n != nil {
		at = n.position
	}
	for _, file := range a.AgentFiles {
		r.agent = strings.TrimSuffix(path.Base(file), agentExtension)
		if content, ok := r.files.read(file, at); ok {
			doc, problems := abl.Parse(file, content)
			r.agent = cmp.Or(doc.Agent.Value, r.agent)
			a.Agents = append(a.Agents, doc)
			r.include(problems)
		}
		r.agent = ""
	}
	m := &factMerger{agentReader: r, app: a, positions: positions, own: len(a.Facts)}
	return m.merge()
}

// names returns the sorted names of the agent files. If the app file has a section "agents", names
// returns the files that this section lists. The list can be empty. If the app file has no section
// "agents", names returns all agent files in the folder of the app and in its subfolder "agents".
func (r *agentReader) names(n *node) []string {
	var names []string
	switch {
	case n != nil && n.kind != list:
		r.errorf(n.position, problem.WrongType, "write `agents: [agents/booking.abl]`, or omit the key `agents`", "the value of `agents` must be a list of files, not %s", n.kind)
	case n != nil:
		names = []string{} // not nil, even if the section lists no files
		for _, item := range n.items {
			if file := r.text(item, "an agent"); file != "" {
				if resolved, ok := r.files.resolve(item, ""); ok {
					names = append(names, resolved)
				}
			}
		}
	case r.files.fsys != nil:
		for _, pattern := range []string{"*" + agentExtension, agentFolder + "/*" + agentExtension} {
			found, _ := fs.Glob(r.files.fsys, pattern) // the pattern is valid, so Glob does not fail
			names = append(names, found...)
		}
	}
	if len(names) > maxAgents {
		at := position{file: names[maxAgents]}
		r.errorf(at, problem.OverLimit, "", "an app is limited to %d agents, but this app has %d", maxAgents, len(names))
		return nil
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// include adds the problems of an agent file to the report.
func (r *agentReader) include(problems problem.List) {
	for _, p := range problems {
		r.report(p)
	}
}

// check reports contradictions between agents. check also reports calls to tools that the app does
// not have. If the agents have no errors, check compiles them. The tools of the app must be read
// before check is called.
func (r *agentReader) check(a *App) {
	if len(a.Agents) == 0 {
		return
	}
	names := map[string]string{} // by file
	for _, doc := range a.Agents {
		names[doc.File] = cmp.Or(doc.Agent.Value, doc.File)
	}
	set, problems := agent.Compile(a.Agents, a.toolsForAgents())
	for _, p := range problems {
		r.agent = names[p.File]
		r.report(p)
	}
	r.agent = ""
	if !slices.ContainsFunc(r.problems, func(p problem.Problem) bool { return p.Agent != "" && p.Severity == problem.Error }) {
		a.AgentSet = set
	}
}

// toolsForAgents returns the tools that the agents can call. These tools are the tools of the app.
// If the app has blocks, the memory tools of package agent are added.
func (a *App) toolsForAgents() []agent.Tool {
	tools := make([]agent.Tool, len(a.Tools))
	for i, t := range a.Tools {
		tools[i] = agent.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema, Approval: t.Approval.Before}
	}
	if len(a.Blocks) == 0 {
		return tools
	}
	for _, added := range agent.MemoryTools() {
		if !slices.ContainsFunc(tools, func(t agent.Tool) bool { return t.Name == added.Name }) {
			tools = append(tools, added)
		}
	}
	return tools
}

// factMerger adds to the app the facts that its agents declare.
type factMerger struct {
	*agentReader
	app       *App
	positions map[string]position
	own       int // the number of facts that the app file declares
}

// merge returns the positions of all facts. If the app has no facts, merge returns nil.
func (m *factMerger) merge() map[string]position {
	for _, doc := range m.app.Agents {
		m.agent = doc.Agent.Value
		for _, f := range doc.Memory.Persistent {
			m.fact(doc, f)
		}
	}
	for _, doc := range m.app.Agents {
		m.agent = doc.Agent.Value
		for _, t := range doc.Memory.Triggers {
			m.target(doc, t)
		}
	}
	m.agent = ""
	if n := len(m.app.Facts); n > maxFacts && m.own <= maxFacts {
		m.errorf(m.positions[m.app.Facts[maxFacts].Path], problem.OverLimit, "", "an app is limited to %d facts, but this app and its agents declare %d", maxFacts, n)
	}
	return m.positions
}

// fact adds a fact that an agent declares. If a path is declared twice, the scopes must be equal,
// and the types should be equal. If an agent declares a default, it applies only to this agent.
// Therefore, the fact of the app does not get this default.
func (m *factMerger) fact(doc *abl.Document, f abl.Fact) {
	at := position{doc.File, f.Line, f.Column}
	added := declare.Fact{
		Path: f.Value, Type: declare.FactType(f.Type), Domain: f.Domain, Unit: f.Unit, Description: f.Description,
	}
	if scope := factScopes[string(f.Scope)]; scope != declare.FactScope(f.Value) {
		added.Scope = scope
	}
	i := slices.IndexFunc(m.app.Facts, func(known declare.Fact) bool { return known.Path == f.Value })
	if i < 0 {
		m.add(at, added)
		return
	}
	if i < m.own { // abl.CheckAll has already compared the declarations of the agents
		m.compare(at, added, f.Default, m.app.Facts[i])
	}
}

// compare compares a fact of an agent with the same fact in the app file. compare reports the
// differences.
func (m *factMerger) compare(at position, f declare.Fact, value any, known declare.Fact) {
	file := m.positions[f.Path].file
	var other any
	hasDefault := known.Default != nil && json.Unmarshal(known.Default, &other) == nil
	switch {
	case scopeOf(known) != scopeOf(f):
		m.errorf(at, problem.BadValue, "declare the same scope", "the fact %s has the scope %s here, but the scope %s in %s", f.Path, scopeWord(f), scopeWord(known), file)
	case known.Type != f.Type && known.Type != "" && f.Type != "":
		m.warnf(at, problem.Contradiction, "declare the same type", "the fact %s has the type %s here, but the type %s in %s", f.Path, f.Type, known.Type, file)
	case hasDefault && value != nil && !reflect.DeepEqual(other, value):
		m.warnf(at, problem.Contradiction, "declare the same default", "the fact %s has another default in %s; tools get the default from that file", f.Path, file)
	}
}

// target adds the target of a trigger as a fact. If the target is a declared fact, or a part of a
// declared fact, target adds nothing.
func (m *factMerger) target(doc *abl.Document, t abl.Trigger) {
	for path := t.Target.Value; path != ""; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
		if _, declared := m.positions[path]; declared {
			return
		}
	}
	if strings.Contains(t.Target.Value, ".") { // package abl has reported other targets
		m.add(position{doc.File, t.Target.Line, t.Target.Column}, declare.Fact{Path: t.Target.Value, Domain: t.Domain})
	}
}

func (m *factMerger) add(at position, f declare.Fact) {
	if err := declare.CheckFactPath(f.Path); err != nil {
		m.errorf(at, problem.BadName, "write a path such as user.language", "%s", err)
		return
	}
	if m.positions == nil {
		m.positions = map[string]position{}
	}
	if f.Domain == declare.FactDomain(f.Path) {
		f.Domain = ""
	}
	m.positions[f.Path] = at
	m.app.Facts = append(m.app.Facts, f)
}

func scopeOf(f declare.Fact) declare.Scope { return cmp.Or(f.Scope, declare.FactScope(f.Path)) }

// scopeWord returns the name that the scope of a fact has in agent files.
func scopeWord(f declare.Fact) string {
	for word, scope := range factScopes {
		if scope == scopeOf(f) {
			return word
		}
	}
	return string(f.Scope)
}
