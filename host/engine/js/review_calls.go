package js

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// missingArgument returns the name of a required argument that a call certainly omits, or "".
// missingArgument ignores calls that have no arguments, and calls that have spread arguments.
func missingArgument(op abi.Operation, args []ast.Expression) string {
	if len(args) == 0 || slices.ContainsFunc(args, isSpread) {
		return ""
	}
	provided, certain := []string(nil), true
	if named, ok := args[0].(*ast.ObjectLiteral); ok {
		if provided, certain = literalKeys(named); !certain {
			return ""
		}
	} else if _, ok := args[0].(*ast.StringLiteral); !ok && len(args) == 1 {
		return "" // the single argument can be an object with named arguments
	}
	if provided == nil && hasOptionalStore(op) {
		return "" // the only required parameter is the second; it can be the first argument
	}
	for i, param := range op.Params {
		has := i < len(args) && provided == nil
		for _, name := range append([]string{param.Name}, param.Aliases...) {
			has = has || slices.Contains(provided, name)
		}
		if param.Required && !has {
			return param.Name
		}
	}
	return ""
}

// hasOptionalStore reports whether the store is an optional argument of an operation.
func hasOptionalStore(op abi.Operation) bool {
	return len(op.Params) > 0 && op.Params[0].Kind == abi.StoreName && !op.Params[0].Required
}

func isSpread(e ast.Expression) bool {
	_, ok := e.(*ast.SpreadElement)
	return ok
}

// literalKeys returns the keys of an object literal. The result "certain" reports whether all keys
// are known.
func literalKeys(o *ast.ObjectLiteral) (keys []string, certain bool) {
	for _, property := range o.Value {
		switch p := property.(type) {
		case *ast.PropertyShort:
			keys = append(keys, p.Name.Name.String())
		case *ast.PropertyKeyed:
			key, ok := p.Key.(*ast.StringLiteral)
			if !ok || p.Computed {
				return nil, false
			}
			keys = append(keys, key.Value.String())
		default:
			return nil, false
		}
	}
	return keys, len(keys) > 0
}

// unicodeProperty matches the text of a regular expression up to its first Unicode property, such
// as \p{L}. The text before the property can contain other escapes.
var unicodeProperty = lazyregexp.New(`^(?:[^\\]|\\[^pP])*?(\\([pP]\{[A-Za-z][A-Za-z_=]*\}))`)

// pattern reports a regular expression that contains a Unicode property but does not have the flag
// u. Without the flag u, the escape \p matches the letter p.
func (r *reviewer) pattern(n *ast.RegExpLiteral) {
	if strings.ContainsAny(n.Flags, "uv") {
		return
	}
	part := unicodeProperty().FindStringSubmatch(n.Pattern)
	if part == nil {
		return
	}
	literal := "/" + n.Pattern + "/" + n.Flags + "u"
	r.find(int(n.Idx), "write "+cut(literal, 200), "without the flag u, "+part[1]+" in a regular expression matches the letters "+part[2])
}
