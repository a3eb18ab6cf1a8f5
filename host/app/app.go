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

// App is a checked declaration. It is not changed after it was loaded and is safe for concurrent use.
type App struct {
	// ID names the app within its tenant. Whoever opens the app may give it another one.
	ID string
	// SessionIdle is how long a session lives without being used.
	SessionIdle time.Duration
	// Stores, Tools and Prompts are in the order of the file. Stores do not hold the built-in one.
	Stores  []declare.Store
	Tools   []Tool
	Prompts []Prompt
	// DefaultTool is the tool of runs that name none, as the file declares it; "" if it declares none. See RunsByDefault.
	DefaultTool string
	// Files is the app's folder, as it was given to Load; nil for an imported app.
	Files fs.FS
}

// Tool is a declared tool and where it is declared.
type Tool struct {
	declare.Tool
	// Broken holds the errors of this tool, which cannot run while there are any.
	Broken Problems

	limits *node // where Limits is written, or nil
}

// Prompt is a declared prompt and where it is declared.
type Prompt struct {
	declare.Prompt
	// Broken holds the errors of this prompt, which cannot be rendered while there are any.
	Broken Problems

	text *node // where Template is written
}

// Store returns the declared store with exactly that name.
func (a *App) Store(name string) (declare.Store, bool) {
	for _, s := range a.Stores {
		if s.Name == name {
			return s, true
		}
	}
	return declare.Store{}, false
}

// Tool returns the tool with exactly that name, broken or not.
func (a *App) Tool(name string) (Tool, bool) {
	for _, t := range a.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// RunsByDefault returns the name of the tool of runs that name none: the declared default, or the only tool. It is "" if
// the app declares several tools, or none, and no default.
func (a *App) RunsByDefault() string {
	if a.DefaultTool == "" && len(a.Tools) == 1 {
		return a.Tools[0].Name
	}
	return a.DefaultTool
}

// Prompt returns the prompt with exactly that name, broken or not.
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

// LimitProblem makes a warning about the limit of that key, such as "memory", at the place where it is declared.
func (t Tool) LimitProblem(key string, code Code, message, hint string) Problem {
	at := place{file: t.Source}
	if t.limits != nil {
		at = t.limits.place
		if n := t.limits.get(key); n != nil {
			at = n.place
		}
	}
	problem := newProblem(at, code, hint, "%s", message)
	problem.Tool, problem.Severity = t.Name, SeverityWarning
	return problem
}

// Problem makes an error about a place in the prompt's template, given as line and column within the
// template's text, both from 1. It points into the file where the template is written as it stands, and to
// the template's beginning where its text was folded or escaped.
func (p Prompt) Problem(line, column int, message, hint string) Problem {
	at := place{}
	if p.text != nil {
		at = p.text.inside(line, column)
	}
	problem := newProblem(at, BadTemplate, hint, "%s", message)
	problem.Prompt = p.Name
	return problem
}
