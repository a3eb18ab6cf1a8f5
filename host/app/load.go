package app

import (
	"cmp"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/declare"
)

// The defaults of Loader and App.
const (
	DefaultMaxStores   = 15
	DefaultMaxTimeout  = 180 * time.Second
	DefaultMaxMemory   = 4 << 30
	DefaultSessionIdle = 24 * time.Hour
)

// Loader reads declarations within limits. Its zero value has the defaults, and it is safe for concurrent use.
type Loader struct {
	// MaxStores bounds the stores of an app, the built-in one not counted. Default 15.
	MaxStores int
	// MaxTimeout bounds the timeout that a tool may declare. Default 180 s.
	MaxTimeout time.Duration
	// MaxMemory bounds the memory that a tool may declare, in bytes. Default 4 GiB, all that a 32-bit guest can
	// address.
	MaxMemory int64
	// Extensions are the file extensions of the sources that the host has engines for, see engine.Extensions. The folder of
	// a tool is searched in this order. Default: those of the engines that come with toolrun.
	Extensions []string
	// Kinds are the kinds of stores that the host has. Default: documents.
	Kinds []declare.Kind
}

// Load reads the app file of that name in fsys, which is rooted at the app's folder, with the default limits.
//
// It returns every problem. The app is nil where a problem is about the app as a whole; a tool or prompt with
// problems of its own is in the app and says so in its field Broken. The app keeps fsys, which must stay
// usable as long as the app is.
func Load(fsys fs.FS, name string) (*App, Problems) { return Loader{}.Load(fsys, name) }

// Load is like the function Load, within the limits of ld.
func (ld Loader) Load(fsys fs.FS, name string) (*App, Problems) {
	l := ld.begin(fsys)
	if root := l.document(name, place{file: name}); root != nil {
		return l.app(root)
	}
	return nil, l.problems.sorted()
}

// load is the state of reading one declaration.
type load struct {
	Loader
	fsys fs.FS // nil for an import, which looks at no files
	// documents are the parsed files, nil for those that could not be.
	documents map[string]*node
	problems  Problems
	more      bool // whether there are errors beyond maxProblems
	spent     int  // bytes, see maxTotalBytes
	// tool or prompt is the one being read, which problems belong to.
	tool, prompt string
	// stores are the declared stores with their places; nil for a tool that is read without an app.
	stores map[string]place
}

func (ld Loader) begin(fsys fs.FS) *load {
	ld.MaxStores = cmp.Or(ld.MaxStores, DefaultMaxStores)
	ld.MaxTimeout = cmp.Or(ld.MaxTimeout, DefaultMaxTimeout)
	ld.MaxMemory = cmp.Or(ld.MaxMemory, DefaultMaxMemory)
	if ld.Extensions == nil {
		ld.Extensions = bundledExtensions
	}
	if ld.Kinds == nil {
		ld.Kinds = []declare.Kind{declare.KindDocument}
	}
	return &load{Loader: ld, fsys: fsys, documents: map[string]*node{}}
}

// maxProblems bounds how many problems are told. An app with more errors is not used, whatever they are about.
const maxProblems = 1000

func (l *load) report(p Problem) {
	switch p.Tool, p.Prompt = l.tool, l.prompt; {
	case len(l.problems) < maxProblems:
	case p.Severity == SeverityError && !l.more:
		l.more = true
		p = newProblem(place{p.File, p.Line, p.Column}, OverLimit, "", "there are more than %d problems; the others are not told", maxProblems)
	default:
		return
	}
	l.problems = append(l.problems, p)
}

func (l *load) errorf(at place, code Code, hint, format string, args ...any) {
	l.report(newProblem(at, code, hint, format, args...))
}

func (l *load) warnf(at place, code Code, hint, format string, args ...any) {
	p := newProblem(at, code, hint, format, args...)
	p.Severity = SeverityWarning
	l.report(p)
}

var appKeys = []string{"app", "session_idle", "memory", "tools", "default_tool", "prompts"}

var idRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// app reads the whole app file.
func (l *load) app(root *node) (*App, Problems) {
	a := &App{SessionIdle: DefaultSessionIdle, Files: l.fsys}
	if root.kind == null {
		l.errorf(root.place, Unreadable, "it begins with the app's id, such as app: shop", "the app file is empty")
		return nil, l.problems
	}
	if l.keys(root, "an app file", appKeys) {
		a.ID = l.id(root)
		if n := root.get("session_idle"); n != nil {
			a.SessionIdle = l.duration(n, "session_idle", time.Second, maxSessionIdle)
		}
		a.Stores = l.readStores(root.get("memory"))
		a.Tools = l.readTools(root.get("tools"))
		a.DefaultTool = l.defaultTool(root.get("default_tool"), a)
		a.Prompts = l.readPrompts(root.get("prompts"))
		if l.problems.Err() == nil { // a mistake elsewhere may be why nothing is granted
			l.lintGrants(a)
		}
	}
	return l.settle(a)
}

// settle gives each tool and prompt its errors. There is no app where an error belongs to none of them.
func (l *load) settle(a *App) (*App, Problems) {
	l.problems = l.problems.sorted()
	tools, prompts := map[string]Problems{}, map[string]Problems{}
	for _, p := range l.problems {
		switch {
		case p.Severity != SeverityError:
		case p.Tool != "":
			tools[p.Tool] = append(tools[p.Tool], p)
		case p.Prompt != "":
			prompts[p.Prompt] = append(prompts[p.Prompt], p)
		default:
			return nil, l.problems
		}
	}
	for i, t := range a.Tools {
		a.Tools[i].Broken = tools[t.Name]
	}
	for i, p := range a.Prompts {
		a.Prompts[i].Broken = prompts[p.Name]
	}
	return a, l.problems
}

func (l *load) id(root *node) string {
	n := root.get("app")
	if n == nil {
		if lacks(root, "app", appKeys) {
			l.errorf(root.place, MissingKey, "add a line such as app: shop", "the app has no id")
		}
		return ""
	}
	id := l.text(n, "app")
	if n.kind == text && !idRule.MatchString(id) {
		l.errorf(n.place, BadName, "use letters, digits, '.', '_' or '-', such as my-shop", "%s is not an app id", quote(id))
	}
	return id
}

// entries returns the members of a section, whose keys are names: unique without regard to case. The second
// declaration of a name is left out; a tool or prompt is told in both places, since neither may be the one
// that was meant.
func (l *load) entries(n *node, section, what string, own func(name string)) []member {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != object {
		l.errorf(n.place, WrongType, "write name: {...} for each "+what, "%s takes a mapping from names to declarations, not %s", section, n.kind)
		return nil
	}
	var entries []member
	first := map[string]member{}
	for _, m := range n.members {
		before, taken := first[strings.ToLower(m.key)]
		if !taken {
			first[strings.ToLower(m.key)] = m
			entries = append(entries, m)
			continue
		}
		l.sameName(before, m, what, own)
		if before.key != m.key {
			entries = append(entries, m)
		}
	}
	return entries
}

func (l *load) sameName(first, second member, what string, own func(name string)) {
	const hint = "names are unique without regard to case"
	if own != nil {
		own(first.key)
		l.errorf(first.place, DuplicateName, hint, "the %s %s is declared again in line %d", what, quote(first.key), second.line)
		own(second.key)
	}
	l.errorf(second.place, DuplicateName, hint, "the %s %s is declared already, as %s in line %d", what, quote(second.key), quote(first.key), first.line)
	if own != nil {
		own("")
	}
}

func (l *load) own(tool, prompt string) { l.tool, l.prompt = tool, prompt }

// grantable reports whether a store of that name may stand in a grant.
func (l *load) grantable(name string) bool {
	_, declared := l.stores[name]
	return declared || name == declare.SessionMeta || l.stores == nil
}
