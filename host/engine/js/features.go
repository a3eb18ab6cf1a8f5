package js

import (
	"regexp"

	"github.com/dop251/goja/ast"
)

// features are what a tool's code shows that its runs need. What mends goja costs a run time, so a run gets only what its
// code can make use of.
type features struct {
	freezes   bool              // it names a function that makes an object keep the members it has
	localises bool              // it names a function that depends on a locale
	catches   bool              // it has catch clauses with a parameter
	rejects   bool              // it names what handles or shows a rejection
	captures  bool              // it names Error.captureStackTrace
	typed     bool              // it names a typed array and "from"
	regexps   bool              // it may reach the constructor of regular expressions
	proxies   bool              // it may reach the constructor of proxies
	json      bool              // it may reach the object JSON
	accesses  bool              // it names __defineGetter__ or its like
	maths     []string          // the functions of Math that it names
	patterns  map[string]string // the author's texts of regular expressions that were expanded
}

// freezing finds the functions that make an object keep the members it has. A tool that makes up such a name when it
// runs is told that an object of ours cannot be frozen; to make each of them a plain object would slow every tool.
var freezing = lazyRegexp(`freeze|seal|preventExtensions`)

var (
	rejecting = lazyRegexp("\\bthen\\b|\\.\\s*(?:catch|any)\\b|allSettled|Reflect|['\"`](?:catch|any)")
	capturing = lazyRegexp(`captureStackTrace`)
	typing    = lazyRegexp(`(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array(?s:.*)from|from(?s:.*)(?:Int8|Uint8|Clamped|Int16|Uint16|Int32|Uint32|Float32|Float64|Int64|Uint64)Array`)
	matching  = lazyRegexp(`RegExp|\.constructor\s*[()]`)
	proxying  = lazyRegexp(`Proxy|\\u`)      // by its name, maybe with an escape in it
	parsing   = lazyRegexp(`JSON|Proxy|\\u`) // a proxy among the prototypes of the global object gets it as the receiver
	// The global object can be reached by these names only, and by those of our own globals.
	reaching = lazyRegexp(`globalThis|\bglobal\b|\bthis\b`)
	// Its members that are not enumerable are reached by a computed name only with brackets, with an escape in a
	// literal, or by these functions.
	computing = lazyRegexp(`[\[\\]|Reflect|Descriptor`)
)

// prepareTree changes the code where that mends goja, and returns what else its runs need.
func prepareTree(code string, tree *ast.Program) (features, error) {
	if err := unfold(tree); err != nil {
		return features{}, err
	}
	plainYields(code, tree)
	mendAsync(code, tree)
	patterns, err := expandPatterns(code, tree)
	if err != nil {
		return features{}, err
	}
	return features{
		freezes:   freezing().MatchString(code),
		localises: localising().MatchString(code),
		catches:   watchCatches(tree),
		rejects:   rejecting().MatchString(code),
		captures:  capturing().MatchString(code),
		typed:     typing().MatchString(code),
		regexps:   matching().MatchString(code) || len(patterns) > 0,
		proxies:   reaches(code, proxying()),
		json:      reaches(code, parsing()),
		accesses:  accessing().MatchString(code),
		maths:     mathNames(code),
		patterns:  patterns,
	}, nil
}

// reaches reports whether code may reach the global object that is named as name says: by its name, or by a computed
// member of the global object.
func reaches(code string, name *regexp.Regexp) bool {
	return name.MatchString(code) || reaching().MatchString(code) && computing().MatchString(code)
}
