package bundle

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// modules is the name of the folder that contains installed packages.
const modules = "node_modules"

// request is an import to resolve.
type request struct {
	name     string // the imported name
	importer string // the importing file
	require  bool   // true if the import is a call to require
}

// target is the file or the module that an import resolves to. A file is in the namespace "tool",
// and a module is in another namespace.
type target struct {
	namespace string
	path      string
}

// resolveError is the reason why an import cannot be resolved.
type resolveError struct {
	text string
	hint string
}

// scheme matches the beginning of a URL. scheme also matches the beginning of a path that has a
// Windows drive letter.
var scheme = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// resolve resolves an import for esbuild. resolve always returns a result. If there were no result,
// esbuild would resolve the import itself.
func (f *files) resolve(args api.OnResolveArgs) api.OnResolveResult {
	r := request{name: args.Path, importer: args.Importer, require: args.Kind == api.ResolveJSRequireCall}
	if args.Namespace != namespace { // the generated entry can contain imports of the author's file
		r.importer = f.entry
		if r.name == ownModule {
			return api.OnResolveResult{Path: f.entry, Namespace: namespace}
		}
	}
	t, p := f.find(r, args.Kind)
	if p != nil {
		return api.OnResolveResult{Errors: []api.Message{{Text: p.text, Detail: p.hint}}}
	}
	result := api.OnResolveResult{Path: t.path, Namespace: t.namespace}
	if t.namespace == namespace && f.manifestOf(t.path).pure {
		result.SideEffects = api.SideEffectsFalse
	}
	return result
}

func (f *files) find(r request, kind api.ResolveKind) (target, *resolveError) {
	quoted := strconv.QuoteToASCII(r.name)
	switch kind {
	case api.ResolveJSImportStatement, api.ResolveJSDynamicImport, api.ResolveJSRequireCall:
	default:
		return target{}, &resolveError{quoted + " is imported in a way that the bundler does not support", "use import or require"}
	}
	bare, isNode := strings.CutPrefix(r.name, "node:")
	switch {
	case r.name == "" || strings.ContainsAny(r.name, "\\\x00?"):
		return target{}, &resolveError{"invalid module name " + quoted, "use a package name, or a path that begins with ./"}
	case isNode:
		return f.builtin(r, bare)
	case strings.HasPrefix(r.name, "/") || scheme().MatchString(r.name):
		return target{}, &resolveError{quoted + " is not a file of this tool", "use a path that begins with ./ and stays in the tool's folder"}
	case f.fsys == nil && !isBuiltin(r.name):
		return target{}, &resolveError{quoted + " cannot be imported: the tool is a single file", hintFor(r.name,
			"move the tool and its imports into a folder, and install packages in its folder "+modules)}
	case f.fsys == nil:
		return f.builtin(r, r.name)
	case r.name == "." || r.name == ".." || strings.HasPrefix(r.name, "./") || strings.HasPrefix(r.name, "../"):
		return f.relative(r)
	case strings.HasPrefix(r.name, "#"):
		return f.internal(r)
	}
	return f.packaged(r)
}

// relative resolves a path that is relative to the importing file.
func (f *files) relative(r request) (target, *resolveError) {
	quoted := strconv.QuoteToASCII(r.name)
	name := path.Join(path.Dir(r.importer), r.name)
	if leaves(name) {
		return target{}, &resolveError{quoted + " is outside the tool's folder", "copy the file into the folder"}
	}
	found, ok := f.file(name, r)
	if !ok {
		return target{}, &resolveError{quoted + " was not found", "use a path relative to the importing file"}
	}
	return f.serveable(found, r)
}

func leaves(name string) bool { return name == ".." || strings.HasPrefix(name, "../") }

// serveable replaces a file if its package provides a replacement for browsers. serveable rejects a
// file of an unsupported type.
func (f *files) serveable(name string, r request) (target, *resolveError) {
	m := f.manifestOf(name)
	if to, ok := m.browser["./"+strings.TrimPrefix(name, m.dir+"/")]; ok {
		if to == "" {
			return target{empty, name}, nil
		}
		name = path.Join(m.dir, to)
	}
	if languages[path.Ext(name)] == unknown && name != f.entry {
		return target{}, &resolveError{strconv.QuoteToASCII(r.name) + " has a file type that cannot be imported", "import only .js, .mjs, .cjs, .ts, .mts, .cts and .json files"}
	}
	if leaves(name) || !f.isFile(name) {
		return target{}, &resolveError{strconv.QuoteToASCII(r.name) + " was not found", "check the files in its package.json"}
	}
	return target{namespace, name}, nil
}

// The file extensions that an import can omit, in the order in which they are tried.
var (
	authorEndings  = []string{".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"}
	packageEndings = []string{".js", ".mjs", ".cjs", ".json", ".ts", ".mts", ".cts"}
)

// compiled maps the extension of a compiled file to the extension of its source, because TypeScript
// sources import each other by the names of the compiled files.
var compiled = map[string]string{".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}

// file returns the file that an import of a path refers to. The result is the path itself, the path
// with an added extension, or the index file of the folder.
func (f *files) file(name string, r request) (string, bool) {
	endings := authorEndings
	if inPackage(r.importer) || inPackage(name) {
		endings = packageEndings
	}
	if f.isFile(name) {
		return name, true
	}
	if source := compiled[path.Ext(name)]; source != "" && languageOf(r.importer) == typescript {
		if written := strings.TrimSuffix(name, path.Ext(name)) + source; f.isFile(written) {
			return written, true
		}
	}
	for _, ending := range endings {
		if f.isFile(name + ending) {
			return name + ending, true
		}
	}
	if !f.isDirectory(name) {
		return "", false
	}
	for _, main := range f.manifestIn(name).mains(r.require) {
		if m := path.Join(name, main); !leaves(m) && m != name {
			if found, ok := f.file(m, r); ok {
				return found, true
			}
		}
	}
	for _, ending := range endings {
		if index := path.Join(name, "index"+ending); f.isFile(index) {
			return index, true
		}
	}
	return "", false
}

// packaged resolves an import of a package. packaged searches the package folder next to the
// importing file, and then the package folder of each parent folder.
func (f *files) packaged(r request) (target, *resolveError) {
	if to, ok := f.manifestOf(r.importer).browser[r.name]; ok {
		if to == "" {
			return target{empty, r.name}, nil
		}
		if strings.HasPrefix(to, "./") {
			return f.serveable(path.Join(f.manifestOf(r.importer).dir, to), r)
		}
		r.name = to
	}
	name, rest := splitPackage(r.name)
	for dir := path.Dir(r.importer); ; dir = path.Dir(dir) {
		if folder := path.Join(dir, modules, name); path.Base(dir) != modules && f.isDirectory(folder) {
			return f.inside(folder, rest, r)
		}
		if dir == "." {
			break
		}
	}
	if isBuiltin(name) {
		return f.builtin(r, r.name)
	}
	if r.require && inPackage(r.importer) {
		return target{missing, r.name}, nil
	}
	return target{}, &resolveError{"the package " + strconv.QuoteToASCII(name) + " is not installed with the tool",
		hintFor(name, f.installHint(r.importer, name))}
}

// installHint returns a hint that describes how to install a missing package. The command in the
// hint omits the package's name, because the name is untrusted text.
func (f *files) installHint(importer, name string) string {
	dir, _, packaged := strings.Cut("/"+path.Dir(importer)+"/", "/"+modules+"/")
	dir = path.Join(".", dir)
	for dir != "." && !f.isFile(path.Join(dir, "package.json")) {
		dir = path.Dir(dir)
	}
	where := " in the tool's folder"
	if dir != "." {
		where = " in " + dir + where
	}
	switch {
	case !packaged && !f.manifestIn(dir).depends[name]:
		return "run npm install with its name" + where
	case f.isFile(path.Join(dir, "package-lock.json")):
		return "run npm ci" + where
	}
	return "run npm install" + where
}

// splitPackage splits "@scope/name/a/b" into the package name and the path within the package.
func splitPackage(name string) (pkg, rest string) {
	parts := strings.SplitN(name, "/", 3)
	n := 1
	if strings.HasPrefix(name, "@") {
		n = min(2, len(parts))
	}
	pkg = strings.Join(parts[:n], "/")
	return pkg, strings.TrimPrefix(strings.TrimPrefix(name, pkg), "/")
}

// inside resolves a path within a package.
func (f *files) inside(folder, rest string, r request) (target, *resolveError) {
	m := f.manifestIn(folder)
	quoted := strconv.QuoteToASCII(r.name)
	switch {
	case m.broken:
		return target{}, &resolveError{"the package.json of " + quoted + " is not valid JSON", "reinstall the package"}
	case m.exports != nil:
		return f.exported(m, m.exports.subpath(rest), r)
	}
	name := path.Join(folder, rest)
	if name != folder && !strings.HasPrefix(name, folder+"/") {
		return target{}, &resolveError{quoted + " is outside its package", "use a file in the package"}
	}
	found, ok := f.file(name, r)
	if !ok {
		return target{}, &resolveError{quoted + " was not found in the package", "use a file that the package contains"}
	}
	return f.serveable(found, r)
}

// internal resolves an import of "#name" within a package. The method uses the field "imports" of
// the package.json.
func (f *files) internal(r request) (target, *resolveError) {
	m := f.manifestOf(r.importer)
	if m.imports == nil {
		return target{}, &resolveError{strconv.QuoteToASCII(r.name) + " is not defined in package.json", "define it under imports in package.json"}
	}
	return f.exported(m, m.imports.entry(r.name), r)
}

// exported evaluates the conditions of a value in a package.json and resolves the resulting path.
func (f *files) exported(m *manifest, e *exported, r request) (target, *resolveError) {
	conditions := []string{"browser", "module", "import", "default"}
	if r.require {
		conditions[2] = "require"
	}
	to, ok := e.choose(func(c string) bool { return slices.Contains(conditions, c) })
	if !ok {
		return target{}, &resolveError{"the package does not export " + strconv.QuoteToASCII(r.name), "use one of the exports in its package.json"}
	}
	if !strings.HasPrefix(to, "./") { // a value in the field "imports" can name another package
		if strings.HasPrefix(to, "#") || strings.HasPrefix(to, ".") || strings.HasPrefix(to, "/") || scheme().MatchString(to) {
			return target{}, &resolveError{"the package.json of " + strconv.QuoteToASCII(r.name) + " does not name a file in the package", "reinstall the package"}
		}
		r.name, r.importer = to, path.Join(m.dir, "package.json")
		return f.packaged(r)
	}
	name := path.Join(m.dir, to)
	if m.dir != "." && !strings.HasPrefix(name, m.dir+"/") || leaves(name) {
		return target{}, &resolveError{"the package.json of " + strconv.QuoteToASCII(r.name) + " names a file outside the package", "reinstall the package"}
	}
	return f.serveable(name, r)
}
