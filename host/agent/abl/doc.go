// Package abl reads the language of agents: it parses files and expressions, evaluates expressions
// and templates, reports mistakes with their position, and formats files.
//
// A file is a tree of lines. A line is an item (- text) or a key (KEY: value), and the more deeply
// indented lines below it are its properties. [ParseExpr] parses an expression and [Expr.Eval]
// evaluates it over a [Scope]. Evaluation is bounded and deterministic: it depends only on the
// scope and on [Options].
//
// Values are JSON values: nil, bool, float64, string, []any, map[string]any. [Undefined] is the
// value of a name that is not set. The package never changes a value, and a result can share memory
// with the values of the scope. All parsed documents, expressions and templates are safe for
// concurrent use.
package abl
