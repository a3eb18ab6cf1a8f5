// Package abl implements the language of agents. The package parses and formats files, parses and
// evaluates expressions and templates, and reports mistakes with their position.
//
// A file is a tree of lines. A line is an item ("- text") or a key ("KEY: value"). The more deeply
// indented lines below a line are the properties of the line. [ParseExpr] parses an expression, and
// [Expr.Eval] evaluates the expression in a [Scope]. Evaluation is bounded and deterministic: the
// result depends only on the scope and on [Options].
//
// Values are JSON values: nil, bool, float64, string, []any, map[string]any. [Undefined] is the
// value of a name that is not set. The package never changes a value. A result can share memory
// with the values of the scope. All parsed documents, expressions and templates are safe for
// concurrent use.
package abl
