package app

import (
	"cmp"
	"io/fs"
	"time"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// These are defaults for fields of Loader and App.
const (
	DefaultMaxStores    = 15
	DefaultMaxTimeout   = 180 * time.Second
	DefaultMaxMemory    = 4 << 30
	DefaultSessionIdle  = 24 * time.Hour
	DefaultWorkflowIdle = 24 * time.Hour
)

// Loader reads declarations, and enforces limits on them. The zero value of Loader has the default
// limits. A Loader is safe for concurrent use.
type Loader struct {
	// MaxStores is the maximum number of stores that an app can declare. The default is 15.
	MaxStores int
	// MaxTimeout is the longest timeout that a tool can declare. The default is 180 seconds.
	MaxTimeout time.Duration
	// MaxMemory is the largest memory limit in bytes that a tool can declare. The default is 4 GiB,
	// which is the size of the address space of a 32-bit guest.
	MaxMemory int64
	// Extensions contains the extensions of the files that the engines of the host can run.
	// engine.Extensions returns such a list. If the source of a tool is a folder, Load searches the
	// folder for the entry file. Load tries the extensions in the order of Extensions. By default,
	// Extensions contains the extensions of the bundled engines.
	Extensions []string
	// Kinds contains the kinds of stores that the host supports. By default, Kinds contains
	// "document" and "collection". Kinds does not have to contain the kinds for facts, blocks and
	// agents.
	Kinds []declare.Kind
}

// Load reads an app file with the default limits. The argument "fsys" is the folder of the app. The
// argument "name" is the path of the app file in this folder.
//
// Load returns all problems. If an error does not belong to a single tool or prompt, the returned
// app is nil. If a tool or prompt has errors, it is still part of the app. Its field Broken
// contains the errors. The app reads files from the argument "fsys", which must stay open as long
// as the app is used.
func Load(fsys fs.FS, name string) (*App, problem.List) { return Loader{}.Load(fsys, name) }

// Load is like the function Load, but uses the limits of the Loader.
func (ld Loader) Load(fsys fs.FS, name string) (*App, problem.List) {
	l := ld.begin(fsys)
	if root := l.files.document(name, position{file: name}); root != nil {
		return l.app(root)
	}
	return nil, l.problems.Sorted()
}

// load contains the state that is needed to read one declaration. This state includes one reader
// for each section. All readers share one reporter.
type load struct {
	fieldReader
	files   *fileReader
	grants  *grantReader
	stores  *storeReader
	facts   *factReader
	blocks  *blockReader
	agents  *agentReader
	tools   *toolReader
	prompts *promptReader
}

// begin returns the state with which reading a declaration starts. If Import reads the declaration,
// the argument "fsys" is nil.
func (ld Loader) begin(fsys fs.FS) *load {
	fields := fieldReader{&reporter{}}
	files := &fileReader{reporter: fields.reporter, fsys: fsys, documents: map[string]*node{}}
	schemas := &schemaReader{fieldReader: fields, files: files}
	grants := &grantReader{fieldReader: fields}
	stores := &storeReader{fieldReader: fields, schemas: schemas, max: cmp.Or(ld.MaxStores, DefaultMaxStores), kinds: ld.Kinds}
	if stores.kinds == nil {
		stores.kinds = []declare.Kind{declare.KindDocument, declare.KindCollection}
	}
	sources := &sourceReader{fieldReader: fields, files: files, extensions: ld.Extensions}
	if sources.extensions == nil {
		sources.extensions = bundledExtensions
	}
	tools := &toolReader{
		fieldReader: fields, schemas: schemas, sources: sources, grants: grants,
		maxTimeout: cmp.Or(ld.MaxTimeout, DefaultMaxTimeout), maxMemory: cmp.Or(ld.MaxMemory, DefaultMaxMemory),
	}
	return &load{fields, files, grants, stores, &factReader{fields, schemas}, &blockReader{fields}, &agentReader{fields, files}, tools, &promptReader{fields, grants}}
}

var appKeys = []string{"app", "session_idle", "workflow_idle", "memory", "facts", "blocks", "collections", "sleep", "agents", "tools", "default_tool", "prompts"}

var idRule = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// app reads an app file.
func (l *load) app(root *node) (*App, problem.List) {
	a := &App{SessionIdle: DefaultSessionIdle, WorkflowIdle: DefaultWorkflowIdle, Files: l.files.fsys}
	if root.kind == null {
		l.errorf(root.position, problem.Unreadable, "start with the app's id, such as `app: shop`", "the app file is empty")
		return nil, l.problems
	}
	if l.keys(root, "an app file", appKeys) {
		a.ID = l.id(root)
		if n := root.get("session_idle"); n != nil {
			a.SessionIdle = l.duration(n, "session_idle", time.Second, maxIdle)
		}
		if n := root.get("workflow_idle"); n != nil {
			a.WorkflowIdle = l.duration(n, "workflow_idle", time.Second, maxIdle)
		}
		a.AutoCollections = l.stores.auto(root.get("collections"))
		l.grants.auto = a.AutoCollections
		a.Stores, l.grants.declared = l.stores.stores(root.get("memory"))
		a.storePositions = l.grants.declared
		facts, positions := l.facts.facts(root.get("facts"))
		a.Facts, a.Blocks = facts, l.blocks.blocks(root.get("blocks"), l.grants.declared)
		l.grants.facts = l.agents.agents(root.get("agents"), a, positions)
		a.Tools = l.tools.tools(root.get("tools"))
		a.DefaultTool = l.tools.defaultTool(root.get("default_tool"), a)
		a.Sleep = sleepReader{l.fieldReader}.sleep(root.get("sleep"), a)
		a.Prompts = l.prompts.prompts(root.get("prompts"))
		l.agents.check(a)
		if l.problems.Err() == nil { // after a mistake, grants can be missing
			l.lintGrants(a)
		}
	}
	return l.settle(a)
}

// settle assigns each error to a tool, to a prompt, or to the agents. If an error cannot be
// assigned in this way, the returned app is nil.
func (l *load) settle(a *App) (*App, problem.List) {
	l.problems = l.problems.Sorted()
	tools, prompts := map[string]problem.List{}, map[string]problem.List{}
	for _, p := range l.problems {
		switch {
		case p.Severity != problem.Error:
		case p.Tool != "":
			tools[p.Tool] = append(tools[p.Tool], p)
		case p.Prompt != "":
			prompts[p.Prompt] = append(prompts[p.Prompt], p)
		case p.Agent != "":
			a.BrokenAgents = append(a.BrokenAgents, p)
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

// id reads the id of the app.
func (l *load) id(root *node) string {
	n := root.get("app")
	if n == nil {
		if lacks(root, "app", appKeys) {
			l.errorf(root.position, problem.MissingKey, "add a line such as `app: shop`", "the app has no id")
		}
		return ""
	}
	id := l.text(n, "app")
	if n.kind == text && !idRule().MatchString(id) {
		l.errorf(n.position, problem.BadName, "use letters, digits, '.', '_' or '-', such as my-shop", "the text %s is not a valid app id", problem.Quote(id))
	}
	return id
}
