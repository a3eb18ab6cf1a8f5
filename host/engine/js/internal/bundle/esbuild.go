package bundle

import (
	"bytes"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// lowering lists the ES2022 features that goja does not support and that esbuild must rewrite.
// esbuild rewrites an unsupported regular expression to a call to RegExp. This call fails only at
// run time. In the author's own files, however, the scan already reports unsupported regular
// expressions at load time. esbuild need not rewrite Unicode properties, \p{...}, because the
// engine expands them.
var lowering = map[string]bool{
	"async-generator":      false,
	"exponent-operator":    false, // rewritten to Math.pow, which the engine corrects
	"for-await":            false,
	"import-meta":          false, // rewritten to an empty object, because a tool has no URL
	"regexp-match-indices": false, // flag d
	"regexp-set-notation":  false, // flag v
}

// loweringSingle is the lowering for a file that is parsed separately. With this lowering, esbuild
// writes import(...) in the same form as in a bundle.
var loweringSingle = func() map[string]bool {
	m := maps.Clone(lowering)
	m["dynamic-import"] = false
	return m
}()

// lastCodePoint is U+10FFFF in the form in which esbuild writes it into a string. This escape makes
// goja's parser panic. goja accepts U+10FFFF as a surrogate pair.
var lastCodePoint = []byte(`\u{10FFFF}`)

// surrogatePairs returns a lowering with which esbuild writes surrogate pairs. But esbuild then
// rejects variable names that contain characters beyond U+FFFF. Build therefore uses this lowering
// only if necessary.
func surrogatePairs(lowering map[string]bool) map[string]bool {
	m := maps.Clone(lowering)
	m["unicode-escapes"] = false
	return m
}

// defines contains names that packages read to detect their environment.
var defines = map[string]string{
	"process.env.NODE_ENV": `"production"`,
	"global":               "globalThis",
}

// loaders contains esbuild's loader for each language. The code always specifies a loader, because
// esbuild must never choose a loader by file name.
var loaders = map[language]api.Loader{javascript: api.LoaderJS, typescript: api.LoaderTS, jsonText: api.LoaderJSON}

// noTSConfig is an empty tsconfig.json. If noTSConfig is passed as an option, esbuild does not
// search the disk for a tsconfig.json.
const noTSConfig = "{}"

// transform parses and lowers one file without its imports.
func transform(code string, lang language, format api.Format) api.TransformResult {
	options := api.TransformOptions{
		Loader:         loaders[lang],
		Format:         format,
		Target:         api.ES2022,
		Supported:      loweringSingle,
		Define:         defines,
		Platform:       api.PlatformNeutral,
		TreeShaking:    api.TreeShakingFalse,
		TsconfigRaw:    noTSConfig,
		LogLevel:       api.LogLevelSilent,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		LogOverride: map[string]api.LogLevel{
			unbundledImport:  api.LogLevelError,
			unbundledRequire: api.LogLevelError,
		},
	}
	result := api.Transform(code, options)
	if bytes.Contains(result.Code, lastCodePoint) {
		options.Supported = surrogatePairs(loweringSingle)
		if paired := api.Transform(code, options); len(paired.Errors) == 0 {
			return paired
		}
	}
	return result
}

// The IDs of messages from esbuild about calls to import(...) and require(...) that esbuild cannot
// bundle.
const (
	unbundledImport  = "unsupported-dynamic-import"
	unbundledRequire = "unsupported-require-call"
)

// computedImport returns the message for an import or require whose argument is not a plain string.
// In a bundle, a computed argument that begins with "./" makes esbuild list a directory on disk.
// esbuild then bundles the files in that directory without calling a plug-in. When esbuild parses a
// single file, esbuild only reports the computed argument. Each file is therefore parsed separately
// before the bundling.
func computedImport(messages []api.Message) *api.Message {
	i := slices.IndexFunc(messages, func(m api.Message) bool {
		return (m.ID == unbundledImport || m.ID == unbundledRequire) && strings.Contains(m.Text, "not a string literal")
	})
	if i < 0 {
		return nil
	}
	return &api.Message{
		Text:     "the name of an import must be a string literal",
		Detail:   "import each file by its name, and select one of the imported modules in the code",
		Location: messages[i].Location,
	}
}

// mayCompute matches every text that contains a computed import, and few other texts. The name
// "require" can contain escapes, but the keyword "import" cannot.
var mayCompute = lazyregexp.New(`require|\\u|import[\s\p{Z}\x{FEFF}]*[(/.]`)

// packed is esbuild's output for a tool.
type packed struct {
	code      string
	warnings  []string
	positions positions
}

// bundle bundles an entry and all its imports.
func (e *entry) bundle(src engine.Source, lowering map[string]bool, keepNames bool) api.BuildResult {
	return api.Build(api.BuildOptions{
		Stdin:          &api.StdinOptions{Contents: e.code, Sourcefile: entryName, Loader: loaders[e.tool.lang]},
		Bundle:         true,
		Write:          false,
		AbsWorkingDir:  rootDirectory(),
		Outfile:        path.Join("/", outputName),
		Format:         e.format,
		Target:         api.ES2022,
		Supported:      lowering,
		KeepNames:      keepNames,
		Define:         defines,
		Platform:       api.PlatformNeutral,
		TsconfigRaw:    noTSConfig,
		LogLevel:       api.LogLevelSilent,
		LegalComments:  api.LegalCommentsNone,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		Plugins:        []api.Plugin{{Name: "files", Setup: newFiles(src).serve}},
	})
}

// pack bundles an entry and all its imports into one script. If the first result shows that other
// options are necessary, pack bundles a second time.
func pack(e *entry, src engine.Source) (*packed, *abi.Fault) {
	known, keepNames := lowering, false
	result := e.bundle(src, known, keepNames)
	if slices.ContainsFunc(result.OutputFiles, func(f api.OutputFile) bool { return bytes.Contains(f.Contents, lastCodePoint) }) {
		if paired := e.bundle(src, surrogatePairs(known), keepNames); len(paired.Errors) == 0 {
			result, known = paired, surrogatePairs(known)
		}
	}
	if slices.ContainsFunc(result.OutputFiles, func(f api.OutputFile) bool { return renamesClass(f.Contents) }) {
		if named := e.bundle(src, known, true); len(named.Errors) == 0 {
			result = named
		}
	}
	if len(result.Errors) > 0 {
		return nil, e.fault(result.Errors[0])
	}
	p := &packed{}
	var sourceMap []byte
	for _, out := range result.OutputFiles {
		if strings.HasSuffix(out.Path, ".map") {
			sourceMap = out.Contents
			continue
		}
		p.code = string(out.Contents)
	}
	var err error
	if p.positions, err = decodePositions(sourceMap, e.author); err != nil {
		return nil, abi.Faultf(abi.Internal, "cannot decode the bundler's source map")
	}
	return p, e.addWarnings(p, result.Warnings)
}

// numbered matches the declarations of classes whose names end in a number.
var numbered = lazyregexp.New(`\bclass (\w*?[A-Za-z_$])\d+ |\b(\w*?[A-Za-z_$])\d+ = class\b`)

// declaring matches declarations.
var declaring = lazyregexp.New(`\b(?:class|var|let|const|function) ([\w$]+)`)

// renamesClass reports whether esbuild may have renamed a class because another file has a class
// with the same name. Code that reads the name of an error class would fail if the class were
// renamed. esbuild has an option that keeps all names, but then each creation of a function costs
// an additional call.
func renamesClass(code []byte) bool {
	matches := numbered().FindAllSubmatch(code, -1)
	if len(matches) == 0 {
		return false
	}
	taken := map[string]bool{}
	for _, match := range declaring().FindAllSubmatch(code, -1) {
		taken[string(match[1])] = true
	}
	return slices.ContainsFunc(matches, func(match [][]byte) bool { return taken[string(match[1])] || taken[string(match[2])] })
}

// The names that esbuild uses for the entry and for the result. There are no files with these
// names.
const (
	entryName  = "entry"
	outputName = "tool.js"
)

// rootDirectory returns a directory for esbuild's options. If the directory is passed as an option,
// esbuild does not query the working directory. esbuild reads no files in the returned directory.
func rootDirectory() string {
	if runtime.GOOS == "windows" {
		return `C:\`
	}
	return "/"
}

// maxWarnings is the maximum number of warnings about a tool.
const maxWarnings = 20

// addWarnings adds esbuild's warnings about the author's files. If a warning shows that the module
// exports no entry, addWarnings returns a fault.
func (e *entry) addWarnings(p *packed, warnings []api.Message) *abi.Fault {
	missing := 0
	for _, w := range warnings {
		if e.form == Module && w.ID == "import-is-undefined" && w.Location != nil && w.Location.File == entryName {
			missing++
			continue
		}
		if len(p.warnings) == maxWarnings { // computing positions can take too long
			continue
		}
		if at, ok := e.location(w.Location); ok && !inPackage(at.file) {
			p.warnings = append(p.warnings, at.String()+": "+plain(w.Text))
		}
	}
	if e.form == Module && missing >= len(entryExports) {
		return invalid(location{file: e.tool.path}, "the module does not export an entry function").WithHint(entryHint)
	}
	return nil
}

// fault returns the fault for an error from esbuild or from the resolver.
func (e *entry) fault(m api.Message) *abi.Fault {
	if f, ok := m.Detail.(*abi.Fault); ok {
		return f
	}
	at, ok := e.location(m.Location)
	if !ok {
		at = e.tool.end()
	}
	if f := e.tool.bracketFault(); f != nil && at.file == e.tool.path && mayBeBracket(m.Text) {
		return f
	}
	text := plain(m.Text)
	if languages[path.Ext(at.file)] == jsonText {
		text = "this is not JSON" // esbuild's message would quote the file
	}
	f := invalid(at, "%s", text)
	f.Hint, _ = m.Detail.(string)
	return f
}

// plain converts a message of esbuild to the style of a fault. If the message reports a panic of
// esbuild, the result reports an error in the tool's code, because that code is the most likely
// cause.
func plain(text string) string {
	if strings.HasPrefix(text, "panic:") {
		return "the bundler cannot rewrite this code"
	}
	text = strings.ReplaceAll(text, namespace+":", "")
	return strings.ToLower(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
