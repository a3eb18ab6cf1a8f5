package bundle

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// files serves the files of one tool to esbuild, which can see no other files. The methods of files
// are safe for concurrent use.
type files struct {
	entry string
	code  []byte
	fsys  fs.FS // nil if the tool is a single file

	mu        sync.Mutex
	count     int   // the number of files served
	bytes     int64 // the number of bytes read
	manifests map[string]*manifest
}

func newFiles(src engine.Source) *files {
	return &files{entry: src.Path, code: src.Code, fsys: src.Files, bytes: int64(len(src.Code)), manifests: map[string]*manifest{}}
}

// The namespaces of the resolver's results. esbuild never loads modules of other namespaces.
const (
	namespace = "tool"    // a file of the tool
	missing   = "missing" // an optional module of a package; loading it fails at run time
	empty     = "empty"   // a module that a package replaces with an empty module
	provider  = "engine"  // a module that the engine provides
)

// serve registers the callbacks that replace esbuild's access to the disk.
func (f *files) serve(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		return f.resolve(args), nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*"}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		return f.load(args), nil
	})
}

func (f *files) load(args api.OnLoadArgs) api.OnLoadResult {
	var contents string
	switch args.Namespace {
	case namespace:
		return f.loadFile(args.Path)
	case missing:
		contents = "throw Object.assign(new Error(" + quote("cannot find module '"+args.Path+"'") + `), {code: "MODULE_NOT_FOUND"});`
	case empty:
	case provider:
		contents = providedModule(args.Path)
	default:
		return refuse(invalid(location{file: f.entry}, "the tool contains an import that could not be resolved"))
	}
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS}
}

// refuse returns a result that ends the build with a fault. The fault already has a position.
func refuse(fault *abi.Fault) api.OnLoadResult {
	return api.OnLoadResult{Errors: []api.Message{{Text: fault.Message, Detail: fault}}}
}

// loadFile reads a file and inspects it before esbuild parses it.
func (f *files) loadFile(name string) api.OnLoadResult {
	data := f.code
	if name != f.entry {
		var fault *abi.Fault
		if data, fault = f.read(name); fault != nil {
			return refuse(fault)
		}
	}
	if f.countFile() > MaxFiles {
		return refuse(invalid(location{file: f.entry}, "the tool imports more than %d files", MaxFiles))
	}
	lang := languages[path.Ext(name)]
	if name == f.entry {
		lang = languageOf(name)
	}
	code := neutralize(data)
	if fault := inspect(name, code, lang); fault != nil {
		return refuse(fault)
	}
	return api.OnLoadResult{Contents: &code, Loader: loaders[lang]}
}

func (f *files) countFile() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	return f.count
}

// inspect rejects a file that could harm a parser or make esbuild read the disk.
func inspect(name, code string, lang language) *abi.Fault {
	if !utf8.ValidString(code) {
		return invalid(location{file: name}, "the file is not UTF-8 text")
	}
	found, fault := scanSource(name, code, lang)
	switch {
	case fault != nil:
		return fault
	case lang == jsonText:
		return nil
	case found.regexp >= 0 && !inPackage(name):
		return unsupportedRegexp(name, code, found.regexp)
	}
	if !mayCompute().MatchString(code) {
		return nil
	}
	computed := computedImport(transform(code, lang, api.FormatESModule).Errors)
	if computed == nil {
		return nil
	}
	at, _ := locationOf(computed.Location, func(_ string, line, column int) (location, bool) {
		return location{name, line, column}, true
	})
	return invalid(at, "%s", computed.Text).WithHint("%s", computed.Detail)
}

// The method "read" returns the content of a file if the tool does not exceed its size limit.
func (f *files) read(name string) ([]byte, *abi.Fault) {
	at := location{file: name}
	// The file type is checked before the file is opened, because opening a named pipe would block.
	if info, err := fs.Stat(f.fsys, name); err == nil && !info.Mode().IsRegular() {
		return nil, invalid(at, "the path is not a regular file")
	}
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil, invalid(at, "the file cannot be read")
	}
	defer file.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes-f.bytes+1))
	if err != nil {
		return nil, invalid(at, "the file cannot be read")
	}
	if f.bytes += int64(len(data)); f.bytes > MaxBytes {
		return nil, invalid(location{file: f.entry}, "the tool and its imports exceed %d bytes", MaxBytes)
	}
	return data, nil
}

// isFile reports whether a regular file with the name exists.
func (f *files) isFile(name string) bool {
	if name == f.entry {
		return true
	}
	info, err := fs.Stat(f.fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// isDirectory reports whether a folder with the name exists.
func (f *files) isDirectory(name string) bool {
	info, err := fs.Stat(f.fsys, name)
	return err == nil && info.IsDir()
}

// inPackage reports whether a file belongs to an installed package instead of the tool's author.
func inPackage(name string) bool {
	return strings.HasPrefix(name, modules+"/") || strings.Contains(name, "/"+modules+"/")
}

// neutralize disables comments that name a source map. An unchanged comment would make esbuild and
// goja open the file in the comment, and the files that an inline source map lists. neutralize
// replaces every occurrence, even inside strings, so neutralize needs no parser.
func neutralize(code []byte) string {
	for _, directive := range [...]string{"//# source", "//@ source", "/*# source", "/*@ source"} {
		code = bytes.ReplaceAll(code, []byte(directive), []byte(directive[:2]+"  source"))
	}
	if bytes.HasPrefix(code, []byte("#!")) { // inside of the wrapper, #! does not begin a comment
		code = append([]byte("//"), code[2:]...)
	}
	return string(code)
}
