package model

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/toolrun/toolrun/internal/spell"
)

// The limits on models.yaml. These limits prevent slow parsing. The time of the parser grows with
// the square of the number of tokens, and the parser calls itself for each level of nesting.
const (
	maxConfigBytes  = 256 << 10
	maxConfigTokens = 16_384
)

// configReader reads the syntax tree of a YAML file and collects mistakes.
type configReader struct {
	file     string
	mistakes Mistakes
}

// field contains a key of a mapping and the value of the key. If the file contains no value for the
// key, the value is nil.
type field struct {
	key   string
	at    *token.Token
	value ast.Node
}

func (r *configReader) refuse(at *token.Token, hint, format string, args ...any) {
	m := Mistake{File: r.file, Line: 1, Column: 1, Message: fmt.Sprintf(format, args...), Hint: hint}
	if at != nil && at.Position != nil {
		m.Line, m.Column = max(at.Position.Line, 1), max(at.Position.Column, 1)
	}
	r.mistakes = append(r.mistakes, m)
}

// parse returns the root of the syntax tree. If the file is invalid, the result is nil.
func (r *configReader) parse(content []byte) (root ast.Node) {
	defer func() {
		if recover() != nil {
			root = nil
			r.refuse(nil, "", "cannot parse the YAML")
		}
	}()
	switch {
	case len(content) > maxConfigBytes:
		r.refuse(nil, "", "the file is larger than %d KiB", maxConfigBytes>>10)
		return nil
	case !utf8.Valid(content):
		r.refuse(nil, "save the file as UTF-8", "the file is not valid UTF-8")
		return nil
	}
	tokens := lexer.Tokenize(string(content))
	if len(tokens) > maxConfigTokens {
		r.refuse(tokens[maxConfigTokens], "", "the file has more than %d YAML tokens", maxConfigTokens)
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			r.refuse(doc.Body.GetToken(), "", "the file contains more than one YAML document")
			return nil
		}
		root = doc.Body
	}
	return root
}

// syntax reports an error of the parser. The text of this error contains an excerpt of the file,
// and the method omits the excerpt.
func (r *configReader) syntax(err error) {
	var known yaml.Error
	if errors.As(err, &known) {
		hint := "check the indentation, and put strings with special characters in quotes"
		r.refuse(known.GetToken(), hint, "the YAML is malformed")
		return
	}
	r.refuse(nil, "", "the YAML is malformed")
}

// fields returns the fields of a mapping. fields reports a mistake if the value is not a mapping or
// contains duplicate keys.
func (r *configReader) fields(n ast.Node, at *token.Token, name string) []field {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		r.refuse(at, "", "%s must be a mapping", name)
		return nil
	}
	var fields []field
	seen := map[string]bool{}
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			r.refuse(v.Key.GetToken(), "", "a key must be a plain string")
			continue
		}
		if seen[key.Value] {
			r.refuse(key.GetToken(), "", "the key %q occurs twice", key.Value)
			continue
		}
		seen[key.Value] = true
		fields = append(fields, field{key: key.Value, at: key.GetToken(), value: v.Value})
	}
	return fields
}

// unknown reports a key that does not exist.
func (r *configReader) unknown(f field, name string, known []string) {
	hint := "known here: " + strings.Join(known, ", ")
	if near := spell.Name(f.key, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.refuse(f.at, hint, "%s has no key %q", name, f.key)
}

// text returns the value of a string. If the value has another type, it returns "".
func (r *configReader) text(f field) string {
	if s, ok := f.value.(*ast.StringNode); ok && s.Value != "" {
		return s.Value
	}
	r.refuse(f.at, "put the value in quotes", "%s must be a non-empty string", f.key)
	return ""
}

// list returns a list of strings. The strings must be distinct and not empty.
func (r *configReader) list(f field) []string {
	sequence, ok := f.value.(*ast.SequenceNode)
	if !ok || len(sequence.Values) == 0 {
		r.refuse(f.at, "write ["+f.key+"], or omit the key", "%s must be a non-empty list of strings", f.key)
		return nil
	}
	var items []string
	for _, item := range sequence.Values {
		s, ok := item.(*ast.StringNode)
		if !ok || s.Value == "" {
			r.refuse(f.at, "put each item in quotes", "%s must be a list of non-empty strings", f.key)
			return nil
		}
		items = append(items, s.Value)
	}
	return items
}

// number returns a whole number from 1 to "high". For any other value, it returns 0.
func (r *configReader) number(f field, high int64) int64 {
	if n, ok := f.value.(*ast.IntegerNode); ok {
		switch v := n.Value.(type) {
		case uint64:
			if v >= 1 && v <= uint64(high) {
				return int64(v)
			}
		}
	}
	r.refuse(f.at, "", "%s must be a whole number between 1 and %d", f.key, high)
	return 0
}
