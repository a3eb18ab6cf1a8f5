// Package abl reads the language of agents: it parses files and expressions, evaluates expressions
// and templates, reports mistakes with their position, and formats files.
//
// A file is a tree of lines. A line is an item (- text) or a key (KEY: value), and deeper lines are
// its properties. [ParseExpr] parses an expression and [Expr.Eval] evaluates it over a [Scope].
// Evaluation is bounded and deterministic: it depends on the scope and on [Options] only.
//
// Values are JSON values: nil, bool, float64, string, []any, map[string]any. [Undefined] is the
// value of a name that is not set. The package never changes a value, and a result can share parts
// with the values of the scope. Everything that was parsed is safe for concurrent use.
package abl
