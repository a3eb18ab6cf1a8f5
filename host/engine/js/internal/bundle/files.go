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

// files serves the files of one tool to esbuild. esbuild cannot read any other files. The methods
// of files are safe for concurrent use.
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

// The namespaces of the resolver's results. The loader rejects modules of other namespaces.
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

// refuse returns a result that ends the build with the given fault. The fault must already have a
// position.
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

// inspect rejects a file that could harm a parser or that could make esbuild read the disk.
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

// read returns the content of a file. If the tool exceeds its size limit, the method returns a
// fault.
func (f *files) read(name string) ([]byte, *abi.Fault) {
	at := location{file: name}
	// The code checks the file type before it opens the file, because opening a named pipe would
	// block.
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

// inPackage reports whether a file belongs to an installed package. All other files were written by
// the tool's author.
func inPackage(name string) bool {
	return strings.HasPrefix(name, modules+"/") || strings.Contains(name, "/"+modules+"/")
}

// neutralize disables comments that name a source map. esbuild and goja would open the file that
// such a comment names. If such a comment contains a source map, esbuild and goja would open the
// files that the source map lists. neutralize also changes strings that contain the text of such a
// comment, and therefore needs no parser.
func neutralize(code []byte) string {
	for _, directive := range [...]string{"//# source", "//@ source", "/*# source", "/*@ source"} {
		code = bytes.ReplaceAll(code, []byte(directive), []byte(directive[:2]+"  source"))
	}
	if bytes.HasPrefix(code, []byte("#!")) { // #! begins a comment only at the start of a script
		code = append([]byte("//"), code[2:]...)
	}
	return string(code)
}
