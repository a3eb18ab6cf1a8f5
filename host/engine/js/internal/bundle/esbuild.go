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

// lowering says what goja does not know although it is part of ES2022; esbuild rewrites it. A regular expression
// becomes a call of RegExp, which fails when a package gets there, not when it is loaded; in the author's own files
// the scan finds it first. Unicode properties, \p{...}, stay as they are: the engine expands them.
var lowering = map[string]bool{
	"async-generator":      false,
	"exponent-operator":    false, // becomes a call of Math.pow, which is ours: goja's has other last digits
	"for-await":            false,
	"import-meta":          false, // becomes an empty object: a tool has no address
	"regexp-match-indices": false, // flag d
	"regexp-set-notation":  false, // flag v
}

// loweringAlone is for a file that is parsed on its own: goja then sees what a bundle makes of import(...).
var loweringAlone = func() map[string]bool {
	m := maps.Clone(lowering)
	m["dynamic-import"] = false
	return m
}()

// lastCodePoint is how esbuild writes U+10FFFF in a string. goja's parser panics at it, but reads the two surrogates.
var lastCodePoint = []byte(`\u{10FFFF}`)

// inPairs is a lowering that writes surrogates. It is for no tool that does without, since esbuild then refuses names of
// variables beyond U+FFFF.
func inPairs(lowering map[string]bool) map[string]bool {
	m := maps.Clone(lowering)
	m["unicode-escapes"] = false
	return m
}

// defines are the names that packages look up to learn where they run.
var defines = map[string]string{
	"process.env.NODE_ENV": `"production"`,
	"global":               "globalThis",
}

// loaders of the languages; esbuild must never choose one by the name of a file.
var loaders = map[language]api.Loader{javascript: api.LoaderJS, typescript: api.LoaderTS, jsonText: api.LoaderJSON}

// noTSConfig stands in for the tsconfig.json that esbuild would look for.
const noTSConfig = "{}"

// transform parses one file alone and lowers it.
func transform(code string, lang language, format api.Format) api.TransformResult {
	options := api.TransformOptions{
		Loader:         loaders[lang],
		Format:         format,
		Target:         api.ES2022,
		Supported:      loweringAlone,
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
		options.Supported = inPairs(loweringAlone)
		if paired := api.Transform(code, options); len(paired.Errors) == 0 {
			return paired
		}
	}
	return result
}

// What esbuild calls its remarks on import(...) and require(...) that it cannot bundle.
const (
	unbundledImport  = "unsupported-dynamic-import"
	unbundledRequire = "unsupported-require-call"
)

// computedImport finds an import or require whose argument is no plain string. When esbuild bundles one that
// begins with "./", it lists the directory on disk and bundles what it finds there, past every plug-in. So each
// file is parsed alone first, where it only remarks on it.
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

// mayCompute matches every text that can hold such an import, and little more: a keyword is never escaped, but a
// name like require can be.
var mayCompute = regexp.MustCompile(`require|\\u|import[\s\p{Z}\x{FEFF}]*[(/.]`)

// packed is what esbuild made of a tool.
type packed struct {
	code      string
	warnings  []string
	positions positions
}

// bundle bundles an entry with everything that it imports.
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

// pack makes one script of an entry and everything that it imports.
func pack(e *entry, src engine.Source) (*packed, *abi.Fault) {
	known, keepNames := lowering, false
	result := e.bundle(src, known, keepNames)
	if slices.ContainsFunc(result.OutputFiles, func(f api.OutputFile) bool { return bytes.Contains(f.Contents, lastCodePoint) }) {
		if paired := e.bundle(src, inPairs(known), keepNames); len(paired.Errors) == 0 {
			result, known = paired, inPairs(known)
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
		return nil, abi.Faultf(abi.Internal, "the bundler wrote no source map that can be read")
	}
	return p, e.judge(p, result.Warnings)
}

// numbered finds classes whose names end in a number.
var numbered = regexp.MustCompile(`\bclass (\w*?[A-Za-z_$])\d+ |\b(\w*?[A-Za-z_$])\d+ = class\b`)

// declaring finds what is declared.
var declaring = regexp.MustCompile(`\b(?:class|var|let|const|function) ([\w$]+)`)

// renamesClass reports whether a class in a bundle may have got another name, since another file has one of its name. Its
// errors would tell their kind by it. esbuild can keep all names, which costs each function a call when it is made.
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

// Names that esbuild gives to the entry and to the result. Neither is a file.
const (
	entryName  = "entry"
	outputName = "tool.js"
)

// rootDirectory keeps esbuild from asking for the working directory; nothing in it is looked at.
func rootDirectory() string {
	if runtime.GOOS == "windows" {
		return `C:\`
	}
	return "/"
}

// maxWarnings bounds the warnings of a tool.
const maxWarnings = 20

// judge takes in what esbuild remarks on the author's own files.
func (e *entry) judge(p *packed, warnings []api.Message) *abi.Fault {
	missing := 0
	for _, w := range warnings {
		if e.form == Module && w.ID == "import-is-undefined" && w.Location != nil && w.Location.File == entryName {
			missing++
			continue
		}
		if len(p.warnings) == maxWarnings { // places cost time in long lines
			continue
		}
		if at, ok := e.place(w.Location); ok && !inPackage(at.file) {
			p.warnings = append(p.warnings, at.String()+": "+plain(w.Text))
		}
	}
	if e.form == Module && missing >= len(entryExports) {
		return invalid(place{file: e.tool.path}, "the module exports no entry").WithHint(entryHint)
	}
	return nil
}

// fault tells what esbuild, or the resolver, has against a tool.
func (e *entry) fault(m api.Message) *abi.Fault {
	if f, ok := m.Detail.(*abi.Fault); ok {
		return f
	}
	at, ok := e.place(m.Location)
	if !ok {
		at = e.tool.end()
	}
	if f := e.tool.bracketFault(); f != nil && at.file == e.tool.path && isBracketTrouble(m.Text) {
		return f
	}
	text := plain(m.Text)
	if languages[path.Ext(at.file)] == jsonText {
		text = "this is not JSON" // esbuild would quote from it
	}
	f := invalid(at, "%s", text)
	f.Hint, _ = m.Detail.(string)
	return f
}

// plain puts a text of esbuild's into the manner of a fault. What esbuild says of a panic of its own is of no use to an
// author: the code is at fault as far as can be known.
func plain(text string) string {
	if strings.HasPrefix(text, "panic:") {
		return "the bundler cannot rewrite this code"
	}
	text = strings.ReplaceAll(text, namespace+":", "")
	return strings.ToLower(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
