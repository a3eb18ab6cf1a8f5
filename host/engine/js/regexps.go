package js

import (
	"maps"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/toolrun/toolrun/host/engine/js/internal/property"
)

// rewritePatterns rewrites the regular expressions of a script with rewritePattern. rewritePatterns
// returns the original text of each changed expression.
func rewritePatterns(code string, tree *ast.Program) (map[string]string, error) {
	if !mayRewrite(code) {
		return nil, nil
	}
	texts := map[string]string{}
	var failed error
	total := 0
	w := walker{maxUnfolded}
	w.walk(tree.Body, func(node any) bool {
		literal, ok := node.(*ast.RegExpLiteral)
		if !ok || failed != nil {
			return failed == nil
		}
		expanded, err := rewritePattern(literal.Pattern, literal.Flags)
		if err == nil && expanded == literal.Pattern {
			return true
		}
		if total += len(expanded); err == nil && total > maxPatternBytes {
			err = property.ErrSize
		}
		if err != nil {
			failed = &patternError{literal.Literal, err, tree.File.Position(int(literal.Idx0()) - tree.File.Base())}
			return false
		}
		if expanded != literal.Pattern {
			texts[expanded] = literal.Pattern
			literal.Pattern = expanded
		}
		return true
	})
	return texts, failed
}

// maxPatternBytes is the maximum total size of a script's rewritten regular expressions.
const maxPatternBytes = 2 << 20

// patternError is the error for an invalid regular expression in the script.
type patternError struct {
	literal string
	err     error
	at      file.Position
}

func (e *patternError) Error() string {
	return "Invalid regular expression: " + cut(e.literal, 200) + ": " + e.err.Error()
}

// regexps is the guest's class RegExp. The class rewrites a regular expression if goja interprets
// it differently from the language specification.
type regexps struct {
	*realm
	patterns map[string]string // the original texts of the script's rewritten expressions
	sources  map[string]string // the original texts of expressions that the run created
}

// install replaces the constructor RegExp.
func (x *regexps) install() {
	global := x.vm.GlobalObject()
	native := global.Get("RegExp").(*goja.Object)
	prototype := native.Get("prototype").(*goja.Object)
	construct, _ := goja.AssertConstructor(native)
	var wrapped *goja.Object
	wrapped = x.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		target := call.NewTarget
		if target == nil {
			if same := x.sameRegExp(wrapped, call.Arguments); same != nil {
				return same
			}
			target = wrapped
		}
		return x.construct(construct, target, x.patternArguments(call.Arguments))
	}).(*goja.Object)
	no, yes := goja.FLAG_FALSE, goja.FLAG_TRUE
	must(wrapped.DefineDataProperty("prototype", prototype, no, no, no))
	must(wrapped.DefineDataProperty("name", x.vm.ToValue("RegExp"), no, yes, no))
	must(wrapped.DefineDataProperty("length", x.vm.ToValue(2), no, yes, no))
	must(global.DefineDataProperty("RegExp", wrapped, yes, yes, no))
	must(prototype.DefineDataProperty("constructor", wrapped, yes, yes, no))
	// goja's own split is much faster if the constructor is goja's own RegExp.
	must(wrapped.DefineAccessorPropertySymbol(goja.SymSpecies, x.native("get [Symbol.species]", func(call goja.FunctionCall) goja.Value {
		if call.This == goja.Value(wrapped) {
			return native
		}
		return call.This
	}), nil, yes, no))
	x.keepSources(prototype)
}

// sameRegExp handles a call to RegExp(x) without the keyword "new". If x is already a regular
// expression, sameRegExp returns x. Otherwise, sameRegExp returns nil.
func (x *regexps) sameRegExp(wrapped *goja.Object, arguments []goja.Value) *goja.Object {
	if len(arguments) == 0 || len(arguments) > 1 && !isUndefined(arguments[1]) {
		return nil
	}
	object, ok := arguments[0].(*goja.Object)
	if !ok || object.ClassName() != "RegExp" || object.Get("constructor") != goja.Value(wrapped) {
		return nil
	}
	return object
}

// patternArguments checks and rewrites the pattern in the arguments of RegExp.
func (x *regexps) patternArguments(provided []goja.Value) []goja.Value {
	if len(provided) == 0 {
		return provided
	}
	flags, flagged := "", len(provided) > 1 && !isUndefined(provided[1])
	if flagged {
		text, ok := provided[1].(goja.String)
		if !ok {
			return provided
		}
		flags = text.String()
	}
	pattern, ok := patternOf(provided[0], flagged)
	if !ok {
		return provided
	}
	rewritten, err := rewritePattern(pattern, flags)
	if err != nil {
		panic(x.newError("SyntaxError", "Invalid regular expression: /"+cut(pattern, 200)+"/: "+err.Error()))
	}
	if _, isText := provided[0].(goja.String); isText && rewritten == pattern {
		return provided
	}
	if rewritten != pattern {
		x.remember(rewritten, pattern)
	}
	return append([]goja.Value{x.vm.ToValue(rewritten)}, provided[1:]...)
}

// patternOf returns the text of a pattern. The pattern is a string, or a regular expression in a
// call that also passes flags.
func patternOf(v goja.Value, flagged bool) (string, bool) {
	switch source := v.(type) {
	case goja.String:
		return source.String(), true
	case *goja.Object:
		if flagged && source.ClassName() == "RegExp" {
			return orUndefined(source.Get("source")).String(), true
		}
	}
	return "", false
}

// maxRemembered is the maximum number of rewritten expressions whose original texts a run keeps.
const maxRemembered = 1000

// remember stores the original text of a rewritten expression, so that the member "source" can
// return the original text.
func (x *regexps) remember(expanded, text string) {
	if x.sources == nil {
		x.sources = maps.Clone(x.patterns)
		if x.sources == nil {
			x.sources = make(map[string]string)
		}
	}
	if len(x.sources) < maxRemembered {
		x.sources[expanded] = escapedSlashes(text)
	}
}

// escapedSlashes escapes, in an expression, each slash that would end a regular expression literal.
func escapedSlashes(text string) string {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// keepSources makes the members "source" and "toString" of rewritten regular expressions return the
// original text.
func (x *regexps) keepSources(prototype *goja.Object) {
	plain, err := x.vm.RunProgram(sourceGetter())
	must(err)
	read := x.call(plain.(*goja.Object), goja.Undefined(), prototype).(*goja.Object)
	source := x.native("get source", func(call goja.FunctionCall) goja.Value {
		answer := x.call(read, call.This)
		return x.authorsText(answer)
	})
	must(prototype.DefineAccessorProperty("source", source, nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
	text := x.native("toString", func(call goja.FunctionCall) goja.Value {
		object, ok := call.This.(*goja.Object)
		if !ok {
			panic(x.vm.NewTypeError("RegExp.prototype.toString requires that 'this' be an Object"))
		}
		return x.vm.ToValue("/" + orUndefined(object.Get("source")).String() + "/" + orUndefined(object.Get("flags")).String())
	})
	must(prototype.DefineDataProperty("toString", text, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

var sourceGetter = lazyProgram("toolrun:source", `(function (prototype) { return Object.getOwnPropertyDescriptor(prototype, "source").get })`, false)

func orUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

func (x *regexps) authorsText(source goja.Value) goja.Value {
	if text, ok := x.texts()[source.String()]; ok {
		return x.vm.ToValue(text)
	}
	return source
}

// texts returns the original texts of all expressions that the run has rewritten so far.
func (x *regexps) texts() map[string]string {
	if x.sources != nil {
		return x.sources
	}
	return x.patterns
}
