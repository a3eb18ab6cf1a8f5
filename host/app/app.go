package app

import (
	"io/fs"
	"time"

	"github.com/toolrun/toolrun/host/declare"
)

// Names of the files that declare an app and a tool.
const (
	FileName     = "app.yaml"
	ManifestName = "tool.json"
)

// App is a checked declaration. It does not change after it was loaded and is safe for concurrent
// use.
type App struct {
	// ID identifies the app within its tenant. A program that opens the app may change it.
	ID string
	// SessionIdle is the idle time after which a session expires.
	SessionIdle time.Duration
	// Stores, Tools and Prompts are in the order of the file. Stores does not include the built-in
	// store.
	Stores  []declare.Store
	Tools   []Tool
	Prompts []Prompt
	// DefaultTool is the declared tool of runs that name none; "" if none is declared. See
	// RunsByDefault.
	DefaultTool string
	// Files is the app's folder, as passed to Load; nil for an imported app.
	Files fs.FS
}

// Tool is a declared tool with its position.
type Tool struct {
	declare.Tool
	// Broken contains the errors of this tool. The tool cannot run unless it is empty.
	Broken Problems

	limits *node // the value of limits in the file, or nil
}

// Prompt is a declared prompt with its position.
type Prompt struct {
	declare.Prompt
	// Broken contains the errors of this prompt. The prompt cannot be rendered unless it is empty.
	Broken Problems

	text *node // the value of template in the file
}

// Store returns the declared store with that name. Case matters.
func (a *App) Store(name string) (declare.Store, bool) {
	for _, s := range a.Stores {
		if s.Name == name {
			return s, true
		}
	}
	return declare.Store{}, false
}

// Tool returns the tool with that name, broken or not. Case matters.
func (a *App) Tool(name string) (Tool, bool) {
	for _, t := range a.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// RunsByDefault returns the name of the tool of runs that name none: the declared default, or the
// only tool. It is "" if there is neither.
func (a *App) RunsByDefault() string {
	if a.DefaultTool == "" && len(a.Tools) == 1 {
		return a.Tools[0].Name
	}
	return a.DefaultTool
}

// Prompt returns the prompt with that name, broken or not. Case matters.
func (a *App) Prompt(name string) (Prompt, bool) {
	for _, p := range a.Prompts {
		if p.Name == name {
			return p, true
		}
	}
	return Prompt{}, false
}

// Params returns the names of the properties that the tool's input schema declares, in their order.
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

// LimitProblem returns a warning about a limit, such as "memory", at the position of its
// declaration.
func (t Tool) LimitProblem(key string, code Code, message, hint string) Problem {
	at := position{file: t.Source}
	if t.limits != nil {
		at = t.limits.position
		if n := t.limits.get(key); n != nil {
			at = n.position
		}
	}
	problem := newProblem(at, code, hint, "%s", message)
	problem.Tool, problem.Severity = t.Name, SeverityWarning
	return problem
}

// Problem returns an error about a position in the prompt's template, given as line and column
// within the template's text, both from 1. It points to that position in the file, or to the start
// of the template if its text is folded or escaped in the file.
func (p Prompt) Problem(line, column int, message, hint string) Problem {
	at := position{}
	if p.text != nil {
		at = p.text.inside(line, column)
	}
	problem := newProblem(at, BadTemplate, hint, "%s", message)
	problem.Prompt = p.Name
	return problem
}
