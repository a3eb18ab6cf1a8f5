package js

import (
	"regexp"

	"github.com/dop251/goja/ast"
)

// features are the properties of a tool's code that decide which patches of goja its runs need.
// Patches are expensive, so each run only gets the necessary ones.
type features struct {
	freezes   bool              // it names a function that makes objects non-extensible
	localises bool              // it names a function that depends on a locale
	catches   bool              // it has catch clauses with a parameter
	rejects   bool              // it names a function that handles or returns rejections
	captures  bool              // it names Error.captureStackTrace
	typed     bool              // it names a typed array and "from"
	regexps   bool              // it may reach the constructor RegExp
	proxies   bool              // it may reach the constructor Proxy
	json      bool              // it may reach the object JSON
	accesses  bool              // it names __defineGetter__ or a similar function
	maths     []string          // the functions of Math that it names
	patterns  map[string]string // the author's texts of the rewritten regular expressions
}

// freezeNames matches the functions that make objects non-extensible. A tool that computes such a
// name at run time gets an error that an object of ours cannot be frozen; plain objects would slow
// every tool.
var freezeNames = lazyRegexp(`freeze|seal|preventExtensions`)

var (
	rejectionNames = lazyRegexp("\\bthen\\b|\\.\\s*(?:catch|any)\\b|allSettled|Reflect|['\"`](?:catch|any)")
	captureNames   = lazyRegexp(`captureStackTrace`)
	typedFromNames = lazyRegexp(`(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array(?s:.*)from|from(?s:.*)(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array`)
	regexpNames    = lazyRegexp(`RegExp|\.constructor\s*[()]`)
	proxyNames     = lazyRegexp(`Proxy|\\u`)      // by its name, possibly with an escape
	jsonNames      = lazyRegexp(`JSON|Proxy|\\u`) // a proxy among the prototypes of the global object gets it as the receiver
	// The global object can only be reached by these names, and by those of our own globals.
	globalNames = lazyRegexp(`globalThis|\bglobal\b|\bthis\b`)
	// A computed name reaches its members that are not enumerable only with brackets, with an
	// escape in a literal, or through these functions.
	computedAccess = lazyRegexp(`[\[\\]|Reflect|Descriptor`)
)

// prepareTree changes the syntax tree to work around goja's deviations, and returns the features of
// the code.
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

// reaches reports whether code may reach a global object: by its name, which name matches, or by a
// computed member of the global object.
func reaches(code string, name *regexp.Regexp) bool {
	return name.MatchString(code) || globalNames().MatchString(code) && computedAccess().MatchString(code)
}
