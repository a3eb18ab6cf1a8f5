package bundle

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// lowering lists the features of ES2022 that goja lacks and esbuild rewrites. An unsupported
// regular expression becomes a call of RegExp, which fails at run time, not at load time; in the
// author's own files the scan finds it first. Unicode properties, \p{...}, stay as they are: the
// engine expands them.
var lowering = map[string]bool{
	"async-generator":      false,
	"exponent-operator":    false, // becomes a call of our Math.pow; goja's result differs in the last digits
	"for-await":            false,
	"import-meta":          false, // becomes an empty object: a tool has no URL
	"regexp-match-indices": false, // flag d
	"regexp-set-notation":  false, // flag v
}

// loweringSingle is the lowering for a file that is parsed on its own. goja then parses import(...)
// as the bundle has it.
var loweringSingle = func() map[string]bool {
	m := maps.Clone(lowering)
	m["dynamic-import"] = false
	return m
}()

// lastCodePoint is U+10FFFF as esbuild writes it in a string. goja's parser panics on it, but
// accepts the surrogate pair.
var lastCodePoint = []byte(`\u{10FFFF}`)

// surrogatePairs returns a lowering that writes surrogate pairs. It is used only if needed, because
// esbuild then rejects names of variables beyond U+FFFF.
func surrogatePairs(lowering map[string]bool) map[string]bool {
	m := maps.Clone(lowering)
	m["unicode-escapes"] = false
	return m
}

// defines are names that packages read to detect their environment.
var defines = map[string]string{
	"process.env.NODE_ENV": `"production"`,
	"global":               "globalThis",
}

// loaders are esbuild's loaders by language; esbuild must never choose one by the name of a file.
var loaders = map[language]api.Loader{javascript: api.LoaderJS, typescript: api.LoaderTS, jsonText: api.LoaderJSON}

// noTSConfig is an empty tsconfig.json. It keeps esbuild from looking for one.
const noTSConfig = "{}"

// transform parses and lowers one file on its own.
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

// IDs of esbuild's messages on import(...) and require(...) calls that it cannot bundle.
const (
	unbundledImport  = "unsupported-dynamic-import"
	unbundledRequire = "unsupported-require-call"
)

// computedImport returns the message for an import or require whose argument is not a plain string.
// If such an argument begins with "./", esbuild lists the directory on disk and bundles the files
// there, without asking any plug-in. Each file is therefore first parsed on its own, where esbuild
// only reports the import.
func computedImport(messages []api.Message) *api.Message {
	i := slices.IndexFunc(messages, func(m api.Message) bool {
		return (m.ID == unbundledImport || m.ID == unbundledRequire) && strings.Contains(m.Text, "not a string literal")
	})
	if i < 0 {
		return nil
	}
	return &api.Message{
		Text:     "the name of an import must be a string, not computed",
		Detail:   "import each file by its name and choose among them in the code",
		Location: messages[i].Location,
	}
}

// mayCompute matches every text that can contain a computed import, and little else: a keyword is
// never escaped, but a name such as require can be.
var mayCompute = regexp.MustCompile(`require|\\u|import[\s\p{Z}\x{FEFF}]*[(/.]`)

// packed is esbuild's output for a tool.
type packed struct {
	code      string
	warnings  []string
	positions positions
}

// bundle bundles an entry with all its imports.
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

// pack returns one script of an entry and all its imports. It bundles again with other options if
// the first output needs them.
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

// numbered matches classes whose names end in a number.
var numbered = regexp.MustCompile(`\bclass (\w*?[A-Za-z_$])\d+ |\b(\w*?[A-Za-z_$])\d+ = class\b`)

// declaring matches declarations.
var declaring = regexp.MustCompile(`\b(?:class|var|let|const|function) ([\w$]+)`)

// renamesClass reports whether esbuild may have renamed a class, because another file has a class
// of that name. Code that reads the name of an error's class would then fail. esbuild can keep all
// names, at the cost of a call per created function.
func renamesClass(code []byte) bool {
	matches := numbered.FindAllSubmatch(code, -1)
	if len(matches) == 0 {
		return false
	}
	taken := map[string]bool{}
	for _, match := range declaring.FindAllSubmatch(code, -1) {
		taken[string(match[1])] = true
	}
	return slices.ContainsFunc(matches, func(match [][]byte) bool { return taken[string(match[1])] || taken[string(match[2])] })
}

// Names of the entry and of the result for esbuild. They are not files.
const (
	entryName  = "entry"
	outputName = "tool.js"
)

// rootDirectory returns a directory that spares esbuild the query of the working directory. esbuild
// reads nothing in it.
func rootDirectory() string {
	if runtime.GOOS == "windows" {
		return `C:\`
	}
	return "/"
}

// maxWarnings bounds the warnings of a tool.
const maxWarnings = 20

// addWarnings adds esbuild's warnings on the author's files. It returns a fault if a warning shows
// that the module exports no entry.
func (e *entry) addWarnings(p *packed, warnings []api.Message) *abi.Fault {
	missing := 0
	for _, w := range warnings {
		if e.form == Module && w.ID == "import-is-undefined" && w.Location != nil && w.Location.File == entryName {
			missing++
			continue
		}
		if len(p.warnings) == maxWarnings { // computing positions in long lines takes time
			continue
		}
		if at, ok := e.location(w.Location); ok && !inPackage(at.file) {
			p.warnings = append(p.warnings, at.String()+": "+plain(w.Text))
		}
	}
	if e.form == Module && missing >= len(entryExports) {
		return invalid(location{file: e.tool.path}, "the module exports no entry").WithHint(entryHint)
	}
	return nil
}

// fault returns the fault for an error of esbuild or of the resolver.
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

// plain returns a message of esbuild in the style of a fault. A panic of esbuild's is reported as a
// problem of the code, which is its most likely cause.
func plain(text string) string {
	if strings.HasPrefix(text, "panic:") {
		return "the bundler cannot rewrite this code"
	}
	text = strings.ReplaceAll(text, namespace+":", "")
	return strings.ToLower(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
