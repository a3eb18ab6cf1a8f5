package app

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

// A file with one of these names declares an app or a tool.
const (
	FileName     = "app.yaml"
	ManifestName = "tool.json"
)

// App is the declaration of an app, after all checks. An App is immutable after loading, and is
// safe for concurrent use.
type App struct {
	// ID is the id of the app. Two apps of the same tenant must have different ids. A program can
	// change ID before the program opens the app.
	ID string
	// SessionIdle is the idle time after which a session expires.
	SessionIdle time.Duration
	// WorkflowIdle is the idle time after which a workflow expires.
	WorkflowIdle time.Duration
	// Stores, Tools and Prompts are in the order of the app file. Stores does not contain the
	// built-in stores.
	Stores  []declare.Store
	Tools   []Tool
	Prompts []Prompt
	// AutoCollections is true if tools can use collections that the app file does not declare.
	AutoCollections bool
	// Facts contains first the facts that the file declares, in the order of the file. The facts of
	// the agents follow. Facts is nil if the app has no facts.
	Facts []declare.Fact
	// Blocks contains the memory blocks of the app. The blocks "core" and "archival" are first, and
	// the other blocks follow in the order of the file. Blocks is nil if the app has no blocks.
	Blocks []declare.Block
	// AgentFiles contains the names of the app's agent files, sorted. The names are relative to the
	// app's folder. Agents contains the agents in these files. An imported app has AgentFiles, but
	// no Agents.
	AgentFiles []string
	Agents     []*abl.Document
	// AgentSet contains the compiled agents. If the app has no agents, or if an agent has errors,
	// AgentSet is nil.
	AgentSet *agent.Set
	// BrokenAgents contains the errors in the agent files of the app. If there are such errors, no
	// agent of the app can answer.
	BrokenAgents problem.List
	// Sleep is the declaration of sleep-time memory. If the app does not declare sleep-time memory,
	// Sleep is nil.
	Sleep *declare.Sleep
	// sleepModel is the value of the key "model" in the section "sleep" of the file, or nil if the
	// key is missing.
	sleepModel *node
	// storePositions contains the positions of the stores in the file.
	storePositions map[string]position
	// DefaultTool is a tool that the file declares. If a run names no tool, the app executes this
	// tool. DefaultTool can be "". See RunsByDefault.
	DefaultTool string
	// Files is the file system that was passed to Load. Files is nil for an imported app.
	Files fs.FS
}

// Tool is a declared tool, together with the position of its declaration.
type Tool struct {
	declare.Tool
	// Broken contains the errors in the declaration of the tool. If a tool has errors, it cannot
	// run.
	Broken problem.List

	limits, models, approval *node // the values of these keys in the file, or nil
}

// Prompt is a declared prompt, together with the position of its declaration.
type Prompt struct {
	declare.Prompt
	// Broken contains the errors in the declaration of the prompt. If a prompt has errors, it
	// cannot be rendered.
	Broken problem.List

	text *node // the value of the key "template" in the file
}

// AllStores returns all stores of the app: the declared stores, and the built-in stores that the
// app uses. The built-in stores contain blocks, facts, states of agents, and the transcripts for
// sleep-time memory.
func (a *App) AllStores() []declare.Store {
	all := slices.Clip(a.Stores)
	for _, b := range a.Blocks {
		all = append(all, b.Store())
	}
	if a.Facts != nil {
		all = append(all, declare.FactStore(a.Facts))
	}
	if len(a.AgentFiles) > 0 {
		all = append(all, declare.AgentStore())
	}
	if a.Sleep != nil {
		all = append(all, declare.TranscriptStore())
	}
	return all
}

// Store returns the declared store, or the block, that has the given name. Names are
// case-sensitive.
func (a *App) Store(name string) (declare.Store, bool) {
	for _, s := range a.Stores {
		if s.Name == name {
			return s, true
		}
	}
	for _, b := range a.Blocks {
		if b.Name == name {
			return b.Store(), true
		}
	}
	return declare.Store{}, false
}

// CanGrant reports whether a grant applies to a declared store, or to collections that can be used
// without a declaration. The argument is the store or the pattern of the grant. CanGrant ignores
// built-in stores.
func (a *App) CanGrant(store string) bool {
	if a.AutoCollections && declare.CheckName(strings.TrimSuffix(store, "*")) == nil {
		return true
	}
	g := declare.Grant{Store: store}
	return slices.ContainsFunc(a.Stores, func(s declare.Store) bool { return g.CoversStore(s.Name) })
}

// Tool returns the tool that has the given name. The tool can be broken. Names are case-sensitive.
func (a *App) Tool(name string) (Tool, bool) {
	for _, t := range a.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// RunsByDefault returns the name of the tool that is executed if a run names no tool. This tool is
// the default tool that the app declares. If the app declares none, it is the app's only tool. If
// the app has several tools and declares no default tool, RunsByDefault returns "".
func (a *App) RunsByDefault() string {
	if a.DefaultTool == "" && len(a.Tools) == 1 {
		return a.Tools[0].Name
	}
	return a.DefaultTool
}

// Prompt returns the prompt that has the given name. The prompt can be broken. Names are
// case-sensitive.
func (a *App) Prompt(name string) (Prompt, bool) {
	for _, p := range a.Prompts {
		if p.Name == name {
			return p, true
		}
	}
	return Prompt{}, false
}

// Params returns the names of the properties that the input schema of the tool has. The names are
// in the order of the schema.
func (t Tool) Params() []string {
	root, problems := parseJSON("", t.InputSchema)
	if len(problems) > 0 {
		return nil
	}
	var names []string
	if properties := root.get("properties"); properties != nil {
		for _, m := range properties.members {
			names = append(names, m.key)
		}
	}
	return names
}

// LimitProblem returns a warning about a limit that the tool declares, such as "memory". The
// warning has the position of the limit in the file.
func (t Tool) LimitProblem(key string, code problem.Code, message, hint string) problem.Problem {
	at := position{file: t.Source}
	if t.limits != nil {
		at = t.limits.position
		if n := t.limits.get(key); n != nil {
			at = n.position
		}
	}
	mistake := newProblem(at, code, hint, "%s", message)
	mistake.Tool, mistake.Severity = t.Name, problem.Warning
	return mistake
}

// Problem returns an error in the template of the prompt. The arguments "line" and "column" are a
// position in the text of the template. Both start at 1. Problem converts this position to a
// position in the file. If the template is folded or escaped in the file, this conversion is not
// possible. The position is then the start of the template in the file.
func (p Prompt) Problem(line, column int, message, hint string) problem.Problem {
	at := position{}
	if p.text != nil {
		at = p.text.inside(line, column)
	}
	mistake := newProblem(at, problem.BadTemplate, hint, "%s", message)
	mistake.Prompt = p.Name
	return mistake
}
