package js

import (
	"regexp"

	"github.com/dop251/goja/ast"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// features contains the properties of a tool's code that determine which patches of goja its runs
// need. Patching goja is expensive, so a run gets only the patches that it needs.
type features struct {
	freezes   bool              // the code contains a name that freezeNames matches
	localises bool              // the code contains a name that localeNames matches
	catches   bool              // the code has a catch clause with a parameter
	rejects   bool              // the code names a function that handles or returns rejections
	captures  bool              // the code names Error.captureStackTrace
	typed     bool              // the code contains the name of a typed array and "from"
	regexps   bool              // the code can access the constructor RegExp
	proxies   bool              // the code can access the constructor Proxy
	json      bool              // the code can access the object JSON
	accesses  bool              // the code contains the name __defineGetter__ or a similar name
	maths     []string          // functions of Math whose names the code contains
	patterns  map[string]string // rewritten regular expressions, as the author wrote them
}

// freezeNames matches the names of functions that can make an object non-extensible. If a tool
// computes such a name at run time, for example Object.freeze, it cannot freeze an object of the
// engine: the call fails with an error. If objects of the engine were plain objects, they could be
// frozen, but every tool would be slower.
var freezeNames = lazyregexp.New(`freeze|seal|preventExtensions`)

var (
	rejectionNames = lazyregexp.New("\\bthen\\b|\\.\\s*(?:catch|any)\\b|allSettled|Reflect|['\"`](?:catch|any)")
	captureNames   = lazyregexp.New(`captureStackTrace`)
	typedFromNames = lazyregexp.New(`(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array(?s:.*)from|from(?s:.*)(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array`)
	regexpNames    = lazyregexp.New(`RegExp|\.constructor\s*[()]`)
	proxyNames     = lazyregexp.New(`Proxy|\\u`)      // the name itself, possibly with an escape
	jsonNames      = lazyregexp.New(`JSON|Proxy|\\u`) // a proxy can receive the global object
	// globalNames matches all names by which code can access the global object, except the names of
	// our own globals.
	globalNames = lazyregexp.New(`globalThis|\bglobal\b|\bthis\b`)
	// computedAccess matches brackets, the backslash of an escape, and the names of some functions.
	// Without any of them, code cannot compute the name of a non-enumerable member of the global
	// object.
	computedAccess = lazyregexp.New(`[\[\\]|Reflect|Descriptor`)
)

// prepareTree changes the syntax tree to avoid goja's deviations from the language, and returns the
// features of the code.
func prepareTree(code string, tree *ast.Program) (features, error) {
	if err := unfold(tree); err != nil {
		return features{}, err
	}
	makeEvalIndirect(code, tree)
	plainYields(code, tree)
	replaceAsyncHelpers(code, tree)
	patterns, err := rewritePatterns(code, tree)
	if err != nil {
		return features{}, err
	}
	return features{
		freezes:   freezeNames().MatchString(code),
		localises: localeNames().MatchString(code),
		catches:   watchCatches(tree),
		rejects:   rejectionNames().MatchString(code),
		captures:  captureNames().MatchString(code),
		typed:     typedFromNames().MatchString(code),
		regexps:   regexpNames().MatchString(code) || len(patterns) > 0,
		proxies:   reaches(code, proxyNames()),
		json:      reaches(code, jsonNames()),
		accesses:  accessorNames().MatchString(code),
		maths:     mathNames(code),
		patterns:  patterns,
	}, nil
}

// reaches reports whether code can reach a global, either by its name, which the pattern name
// matches, or as a computed member of the global object.
func reaches(code string, name *regexp.Regexp) bool {
	return name.MatchString(code) || globalNames().MatchString(code) && computedAccess().MatchString(code)
}
