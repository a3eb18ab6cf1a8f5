package app

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/toolrun/toolrun/host/problem"
)

// parseYAML parses one YAML document.
func parseYAML(file string, content []byte) (root *node, problems problem.List) {
	start := position{file, 1, 1}
	defer func() {
		if recover() != nil {
			root, problems = nil, problem.List{newProblem(start, problem.Syntax, "", "cannot parse the YAML")}
		}
	}()
	tokens := tokenize(content)
	if mistake := checkTokens(file, tokens); mistake != nil {
		return nil, problem.List{*mistake}
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		if mistake := bracketProblem(file, tokens); mistake != nil {
			return nil, problem.List{*mistake}
		}
		return nil, problem.List{syntaxProblem(file, content, err)}
	}
	r := &yamlReader{file: file, lines: strings.Split(string(content), "\n"), anchors: map[string]*node{}, left: maxValues, leftBytes: maxFileBytes}
	root = (&node{position: start}).seal()
	for _, doc := range parsed.Docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); !directive && doc.Body != nil {
			root = r.read(doc.Body)
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return root, nil
}

// tokenize returns the tokens of a file. Their line numbers are correct. The lexer counts the lines
// of a block string twice, so the line numbers that it reports after a block string are wrong.
func tokenize(content []byte) token.Tokens {
	tokens := lexer.Tokenize(string(content))
	last := strings.Count(strings.ReplaceAll(string(content), "\r", "\n"), "\n") + 1
	for _, t := range tokens {
		t.Position.Line = min(t.Position.Line, last)
	}
	return tokens
}

// checkTokens rejects a file if its values are nested too deeply, if it has too many tokens, or if
// it contains several documents. The parser is recursive, its time grows with the square of the
// number of tokens, and it returns only one document. Therefore, these limits are necessary.
func checkTokens(file string, tokens token.Tokens) *problem.Problem {
	flow, began, ended, directive := 0, false, false, 0
	refuse := func(t *token.Token, code problem.Code, format string, args ...any) *problem.Problem {
		mistake := newProblem(positionOfToken(file, t), code, "", format, args...)
		return &mistake
	}
	for i, t := range tokens {
		if i == maxTokens {
			return refuse(t, problem.OverLimit, "the file has more than %d YAML tokens", maxTokens)
		}
		switch t.Type {
		case token.CommentType:
			continue
		case token.DirectiveType:
			directive = t.Position.Line
		case token.DocumentEndType:
			ended = true
			continue
		case token.DocumentHeaderType:
			if began {
				return refuse(t, problem.Syntax, "the file contains more than one YAML document")
			}
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(flow-1, 0)
		}
		if began && ended {
			return refuse(t, problem.Syntax, "the file contains more than one YAML document")
		}
		began = began || t.Position.Line != directive // a directive can precede the document
		if flow > maxNesting || flow == 0 && blockIndent(t) > 2*maxNesting {
			return refuse(t, problem.OverLimit, "values are nested more than %d levels deep", maxNesting)
		}
	}
	return nil
}

// blockIndent returns the column of a token that can begin a nested block. If the token is the
// colon of a mapping, blockIndent returns the column of the key. For any other token, blockIndent
// returns 0. If a block is nested in another block, it is indented by at least one more column.
func blockIndent(t *token.Token) int {
	switch t.Type {
	case token.SequenceEntryType, token.MappingKeyType:
		return t.Position.Column
	case token.MappingValueType:
		if t.Prev != nil {
			return t.Prev.Position.Column
		}
	}
	return 0
}

func positionOfToken(file string, t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{file, 1, 1}
	}
	return position{file, max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

// yamlReader converts the parser's tree to nodes.
type yamlReader struct {
	file     string
	lines    []string
	problems problem.List
	// anchors maps the name of an anchor to the value of the anchor. A value is added to anchors
	// only after it has been read completely. Therefore, a value cannot contain itself.
	anchors map[string]*node
	// Aliases can add values. left is the number of values that can still be added. leftBytes is
	// the number of bytes that can still be added.
	left, leftBytes int
	depth           int
}

func (r *yamlReader) refuse(n ast.Node, code problem.Code, hint, format string, args ...any) *node {
	at := positionOfToken(r.file, n.GetToken())
	r.problems = append(r.problems, newProblem(at, code, hint, format, args...))
	return (&node{position: at}).seal()
}

// read converts a node of the parser's tree. Its result is never nil.
func (r *yamlReader) read(n ast.Node) *node {
	if r.depth++; r.depth > 2*maxNesting {
		return r.refuse(n, problem.OverLimit, "", "values are nested more than %d levels deep", maxNesting)
	}
	defer func() { r.depth-- }()
	at := positionOfToken(r.file, n.GetToken())
	switch n := n.(type) {
	case *ast.NullNode:
		return (&node{position: at}).seal()
	case *ast.BoolNode:
		return (&node{position: at, kind: boolean, value: fmt.Sprint(n.Value)}).seal()
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return (&node{position: at, kind: number, value: n.GetToken().Value}).seal()
	case *ast.StringNode:
		return r.scalar(at, n)
	case *ast.LiteralNode:
		return r.literal(at, n)
	case *ast.SequenceNode:
		return r.sequence(at, n)
	case *ast.MappingNode:
		return r.mapping(at, n.Values)
	case *ast.MappingValueNode:
		return r.mapping(at, []*ast.MappingValueNode{n})
	case *ast.AnchorNode:
		return r.anchor(n)
	case *ast.AliasNode:
		return r.alias(n)
	case *ast.TagNode:
		return r.refuse(n, problem.Syntax, "remove the tag; to write a string, use quotes", "tags such as %s are not supported", problem.Quote(n.GetToken().Value))
	}
	return r.refuse(n, problem.Syntax, "", "this YAML syntax is not supported")
}

// scalar reads a plain string or a quoted string. The parser treats some numbers as strings,
// although they are valid JSON numbers. For such a string, scalar returns a number.
func (r *yamlReader) scalar(at position, n *ast.StringNode) *node {
	t := n.GetToken()
	if t.Type == token.StringType && jsonNumber().MatchString(n.Value) {
		return (&node{position: at, kind: number, value: n.Value}).seal()
	}
	v := &node{position: at, kind: text, value: n.Value, start: at}
	if t.Type != token.StringType {
		v.start.column++
	}
	v.verbatim = at.line <= len(r.lines) && strings.Contains(r.lines[at.line-1], n.Value)
	return v.seal()
}

// literal reads a block string. If all lines of the string also occur in the file, without changes,
// literal computes the column at which these lines begin.
func (r *yamlReader) literal(at position, n *ast.LiteralNode) *node {
	v := &node{position: at, kind: text}
	if n.Value != nil {
		v.value = n.Value.Value
	}
	if strings.HasPrefix(n.Start.Value, "|") {
		for i, line := range strings.Split(v.value, "\n") {
			if line == "" || at.line+i >= len(r.lines) {
				continue
			}
			indent, ok := strings.CutSuffix(r.lines[at.line+i], line)
			v.block = ok && strings.Trim(indent, " ") == ""
			v.start = position{r.file, at.line + 1, len(indent) + 1}
			break
		}
	}
	return v.seal()
}

func (r *yamlReader) sequence(at position, n *ast.SequenceNode) *node {
	v := &node{position: at, kind: list}
	for _, item := range n.Values {
		if item == nil {
			v.items = append(v.items, (&node{position: at}).seal())
			continue
		}
		v.items = append(v.items, r.read(item))
	}
	return v.seal()
}

func (r *yamlReader) anchor(n *ast.AnchorNode) *node {
	if n.Value == nil || n.Name == nil {
		return r.refuse(n, problem.Syntax, "", "the anchor has no value")
	}
	v := r.read(n.Value)
	r.anchors[n.Name.GetToken().Value] = v
	return v
}

func (r *yamlReader) alias(n *ast.AliasNode) *node {
	name := ""
	if n.Value != nil {
		name = n.Value.GetToken().Value
	}
	v, ok := r.anchors[name]
	if !ok {
		return r.refuse(n, problem.Syntax, "", "the alias *%s has no preceding anchor", strings.Trim(problem.Quote(name), `"`))
	}
	if r.left < 0 || r.leftBytes < 0 {
		return (&node{position: v.position}).seal() // reported already
	}
	r.left -= v.size
	r.leftBytes -= v.bytes
	if r.left < 0 || r.leftBytes < 0 {
		return r.refuse(n, problem.OverLimit, "", "aliases expand to more than %d values or %d KiB", maxValues, maxFileBytes>>10)
	}
	return v
}
