// Package abl implements the language in which agents are written. The package parses and formats
// files. It also parses and evaluates expressions and templates. It reports mistakes with their
// positions.
//
// A file is a tree of lines. A line is an item ("- text") or a key ("KEY: value"). Lines that are
// indented more deeply below a line are the properties of this line. [ParseExpr] parses an
// expression. [Expr.Eval] evaluates a parsed expression in a [Scope]. The cost of an evaluation is
// limited, and an evaluation is deterministic: the result depends only on the scope and on
// [Options].
//
// Values are JSON values: nil, bool, float64, string, []any, map[string]any. If a name is not set,
// its value is [Undefined]. The package never changes a value. The value that an expression returns
// can share memory with the values of the scope. All parsed documents, expressions and templates
// are safe for concurrent use.
package abl
