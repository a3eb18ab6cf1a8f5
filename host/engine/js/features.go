package js

import (
	"regexp"

	"github.com/dop251/goja/ast"

	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// features contains the properties of a tool's code that determine which patches of goja its runs
// need. Patches of goja are expensive, so each run gets only the necessary patches.
type features struct {
	freezes   bool              // the code contains the name of a function that makes objects non-extensible
	localises bool              // the code contains the name of a locale-dependent function
	catches   bool              // the code has catch clauses with a parameter
	rejects   bool              // the code contains the name of a function that handles or returns rejections
	captures  bool              // the code names Error.captureStackTrace
	typed     bool              // the code contains the name of a typed array and "from"
	regexps   bool              // the code can reach the constructor RegExp
	proxies   bool              // the code can reach the constructor Proxy
	json      bool              // the code can reach the object JSON
	accesses  bool              // the code names __defineGetter__ or a similar function
	maths     []string          // the functions of Math that the code names
	patterns  map[string]string // the author's versions of the rewritten regular expressions
}

// freezeNames matches the names of functions that make objects non-extensible. If a tool computes
// the name of a function such as Object.freeze at run time, freezing an object of the engine fails
// with an error. If the engine's objects were plain objects, freezing them would work, but every
// tool would be slower.
var freezeNames = lazyregexp.New(`freeze|seal|preventExtensions`)

var (
	rejectionNames = lazyregexp.New("\\bthen\\b|\\.\\s*(?:catch|any)\\b|allSettled|Reflect|['\"`](?:catch|any)")
	captureNames   = lazyregexp.New(`captureStackTrace`)
	typedFromNames = lazyregexp.New(`(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array(?s:.*)from|from(?s:.*)(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array`)
	regexpNames    = lazyregexp.New(`RegExp|\.constructor\s*[()]`)
	proxyNames     = lazyregexp.New(`Proxy|\\u`)      // the name itself, possibly with an escape
	jsonNames      = lazyregexp.New(`JSON|Proxy|\\u`) // a proxy in the prototype chain of the global object receives it
	// Code can access the global object only by these names and by the names of our own globals.
	globalNames = lazyregexp.New(`globalThis|\bglobal\b|\bthis\b`)
	// Code can compute the name of a non-enumerable member of the global object only with brackets,
	// with an escape in a literal, or with the functions in this pattern.
	computedAccess = lazyregexp.New(`[\[\\]|Reflect|Descriptor`)
)

// prepareTree changes the syntax tree to avoid goja's deviations from the language, and returns the
// features of the code.
func prepareTree(code string, tree *ast.Program) (features, error) {
	if err := unfold(tree); err != nil {
		return features{}, err
	}
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
