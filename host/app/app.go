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

// The names of the file that declares an app, and of the file that declares a tool.
const (
	FileName     = "app.yaml"
	ManifestName = "tool.json"
)

// App is the checked declaration of an app. App is immutable after loading and safe for concurrent
// use.
type App struct {
	// ID is the id of the app, which is unique within a tenant. A program can change ID before the
	// program opens the app.
	ID string
	// SessionIdle is the idle time after which a session expires.
	SessionIdle time.Duration
	// WorkflowIdle is the idle time after which a workflow expires.
	WorkflowIdle time.Duration
	// Stores, Tools and Prompts are in the order of the file. Stores does not contain the built-in
	// stores.
	Stores  []declare.Store
	Tools   []Tool
	Prompts []Prompt
	// AutoCollections is true if tools can use collections that the file does not declare.
	AutoCollections bool
	// Facts are the declared facts in the order of the file, followed by the facts of the agents.
	// Facts is nil if the app has no facts.
	Facts []declare.Fact
	// Blocks are the declared memory blocks: core and archival, followed by the other blocks in the
	// order of the file. Blocks is nil if the app has no blocks.
	Blocks []declare.Block
	// AgentFiles are the files of the app's agents, relative to the app's folder and sorted. Agents
	// are the agents in these files. An imported app has AgentFiles, but no Agents.
	AgentFiles []string
	Agents     []*abl.Document
	// AgentSet contains the compiled agents. AgentSet is nil if the app has no agents, or if an
	// agent has errors.
	AgentSet *agent.Set
	// BrokenAgents contains the errors in the files of agents. If BrokenAgents is not empty, no
	// agent can answer.
	BrokenAgents problem.List
	// Sleep is the declaration of sleep-time memory, or nil if the app does not declare sleep-time
	// memory.
	Sleep *declare.Sleep
	// sleepModel is the value of the key "model" in the section "sleep" of the file, or nil.
	sleepModel *node
	// storePositions contains the positions of the stores in the file.
	storePositions map[string]position
	// DefaultTool is the tool that the file declares for runs without a tool name, or "". See
	// RunsByDefault.
	DefaultTool string
	// Files is the file system that was passed to Load. Files is nil for an imported app.
	Files fs.FS
}

// Tool is a declared tool and the position of its declaration.
type Tool struct {
	declare.Tool
	// Broken contains the errors in the declaration of the tool. A tool with errors cannot run.
	Broken problem.List

	limits, models, approval *node // the values of the keys with these names in the file, or nil
}

// Prompt is a declared prompt and the position of its declaration.
type Prompt struct {
	declare.Prompt
	// Broken contains the errors in the declaration of the prompt. A prompt with errors cannot be
	// rendered.
	Broken problem.List

	text *node // the value of the key "template" in the file
}

// AllStores returns the declared stores and the built-in stores that the app uses. The built-in
// stores contain blocks, facts, the state of agents, and the transcripts of sleep-time memory.
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

// Store returns the declared store or block with the given name. Names are case-sensitive.
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

// CanGrant reports whether a grant on a store, or on a pattern of stores, covers at least one
// declared store, or collections that need no declaration. CanGrant ignores built-in stores.
func (a *App) CanGrant(store string) bool {
	if a.AutoCollections && declare.CheckName(strings.TrimSuffix(store, "*")) == nil {
		return true
	}
	g := declare.Grant{Store: store}
	return slices.ContainsFunc(a.Stores, func(s declare.Store) bool { return g.CoversStore(s.Name) })
}

// Tool returns the tool with the given name, even if it is broken. Names are case-sensitive.
func (a *App) Tool(name string) (Tool, bool) {
	for _, t := range a.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// RunsByDefault returns the name of the tool for runs without a tool name. RunsByDefault returns
// the default tool that the app declares, or the app's only tool. If the app declares no default
// tool and has several tools, RunsByDefault returns "".
func (a *App) RunsByDefault() string {
	if a.DefaultTool == "" && len(a.Tools) == 1 {
		return a.Tools[0].Name
	}
	return a.DefaultTool
}

// Prompt returns the prompt with the given name, even if it is broken. Names are case-sensitive.
func (a *App) Prompt(name string) (Prompt, bool) {
	for _, p := range a.Prompts {
		if p.Name == name {
			return p, true
		}
	}
	return Prompt{}, false
}

// Params returns the names of the properties in the tool's input schema, in the order of the
// schema.
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

// LimitProblem returns a warning about a declared limit, such as "memory". The warning has the
// position of the limit in the file.
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

// Problem returns an error about a position in the prompt's template. The line and column are
// positions in the template's text and start at 1. Problem converts this position to a position in
// the file. If the template is folded or escaped in the file, the error has the position of the
// start of the template.
func (p Prompt) Problem(line, column int, message, hint string) problem.Problem {
	at := position{}
	if p.text != nil {
		at = p.text.inside(line, column)
	}
	mistake := newProblem(at, problem.BadTemplate, hint, "%s", message)
	mistake.Prompt = p.Name
	return mistake
}
