package app

import (
	"cmp"
	"io/fs"
	"regexp"
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

// Loader reads declarations within limits. Its zero value has the defaults. It is safe for concurrent use.
type Loader struct {
	// MaxStores bounds the stores of an app, without the built-in one. Default 15.
	MaxStores int
	// MaxTimeout bounds the timeout that a tool may declare. Default 180 s.
	MaxTimeout time.Duration
	// MaxMemory bounds the memory that a tool may declare, in bytes. Default 4 GiB, the address space of a 32-bit guest.
	MaxMemory int64
	// Extensions are the file extensions of the sources that the host has engines for, see engine.Extensions. The folder of
	// a tool is searched in this order. Default: those of the bundled engines.
	Extensions []string
	// Kinds are the kinds of stores that the host supports. Default: documents.
	Kinds []declare.Kind
}

// Load reads the app file with that name in fsys, which is rooted at the app's folder, with the default limits.
//
// It returns every problem. The app is nil if a problem concerns the app as a whole. A tool or prompt with problems of its
// own is part of the app, and its field Broken holds them. The app keeps fsys, which must stay usable as long as the app.
func Load(fsys fs.FS, name string) (*App, Problems) { return Loader{}.Load(fsys, name) }

// Load is like the function Load, within the limits of ld.
func (ld Loader) Load(fsys fs.FS, name string) (*App, Problems) {
	l := ld.begin(fsys)
	if root := l.files.document(name, position{file: name}); root != nil {
		return l.app(root)
	}
	return nil, l.problems.sorted()
}

// load is the state of reading one declaration: a reader for each section, all with the same
// reporter.
type load struct {
	fieldReader
	files   *fileReader
	grants  *grantReader
	stores  *storeReader
	tools   *toolReader
	prompts *promptReader
}

// begin returns the state for a new declaration. fsys is nil for an import.
func (ld Loader) begin(fsys fs.FS) *load {
	fields := fieldReader{&reporter{}}
	files := &fileReader{reporter: fields.reporter, fsys: fsys, documents: map[string]*node{}}
	schemas := &schemaReader{fieldReader: fields, files: files}
	grants := &grantReader{fieldReader: fields}
	stores := &storeReader{fieldReader: fields, schemas: schemas, max: cmp.Or(ld.MaxStores, DefaultMaxStores), kinds: ld.Kinds}
	if stores.kinds == nil {
		stores.kinds = []declare.Kind{declare.KindDocument}
	}
	sources := &sourceReader{fieldReader: fields, files: files, extensions: ld.Extensions}
	if sources.extensions == nil {
		sources.extensions = bundledExtensions
	}
	tools := &toolReader{
		fieldReader: fields, schemas: schemas, sources: sources, grants: grants,
		maxTimeout: cmp.Or(ld.MaxTimeout, DefaultMaxTimeout), maxMemory: cmp.Or(ld.MaxMemory, DefaultMaxMemory),
	}
	return &load{fields, files, grants, stores, tools, &promptReader{fields, grants}}
}

var appKeys = []string{"app", "session_idle", "memory", "tools", "default_tool", "prompts"}

var idRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// app reads an app file.
func (l *load) app(root *node) (*App, Problems) {
	a := &App{SessionIdle: DefaultSessionIdle, Files: l.files.fsys}
	if root.kind == null {
		l.errorf(root.position, Unreadable, "start with the app's id, such as app: shop", "the app file is empty")
		return nil, l.problems
	}
	if l.keys(root, "an app file", appKeys) {
		a.ID = l.id(root)
		if n := root.get("session_idle"); n != nil {
			a.SessionIdle = l.duration(n, "session_idle", time.Second, maxSessionIdle)
		}
		a.Stores, l.grants.declared = l.stores.stores(root.get("memory"))
		a.Tools = l.tools.tools(root.get("tools"))
		a.DefaultTool = l.tools.defaultTool(root.get("default_tool"), a)
		a.Prompts = l.prompts.prompts(root.get("prompts"))
		if l.problems.Err() == nil { // another mistake may be why nothing is granted
			l.lintGrants(a)
		}
	}
	return l.settle(a)
}

// settle assigns each error to its tool or prompt. It returns no app if an error belongs to
// neither.
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

// id reads the app's id.
func (l *load) id(root *node) string {
	n := root.get("app")
	if n == nil {
		if lacks(root, "app", appKeys) {
			l.errorf(root.position, MissingKey, "add a line such as app: shop", "the app has no id")
		}
		return ""
	}
	id := l.text(n, "app")
	if n.kind == text && !idRule.MatchString(id) {
		l.errorf(n.position, BadName, "use letters, digits, '.', '_' or '-', such as my-shop", "%s is not an app id", quote(id))
	}
	return id
}
