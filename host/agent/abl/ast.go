package abl

// node is a part of a parsed expression.
type node interface{ pos() Position }

type (
	// literal is a constant.
	literal struct {
		at    Position
		value any
	}
	// path is a dotted path of names, such as "a.b.c". The scope resolves it.
	path struct {
		at    Position
		names []string
	}
	// member is a member access, such as "x.name" or "x[index]". member has an operand, and either
	// a name or a computed index.
	member struct {
		at    Position
		base  node
		name  string
		index node // nil for a name
	}
	// arrayNode is [a, b].
	arrayNode struct {
		at    Position
		items []node
	}
	// objectNode is an object such as "{k: a, l: b}". Its members are in source order.
	objectNode struct {
		at     Position
		keys   []string
		values []node
	}
	// unary is an operator with one operand: "-", "NOT", "IS SET", "IS NOT SET" or "IS_NUMBER".
	unary struct {
		at Position
		op string
		x  node
	}
	// binary is an operator with two operands.
	binary struct {
		at   Position
		op   string
		l, r node
	}
	// conditional is a conditional expression, such as "a ? b : c".
	conditional struct {
		at        Position
		cond      node
		then, els node
	}
	// call is a function call with its arguments.
	call struct {
		at   Position
		fn   *function
		args []node
	}
)

func (n *literal) pos() Position     { return n.at }
func (n *path) pos() Position        { return n.at }
func (n *member) pos() Position      { return n.at }
func (n *arrayNode) pos() Position   { return n.at }
func (n *objectNode) pos() Position  { return n.at }
func (n *unary) pos() Position       { return n.at }
func (n *binary) pos() Position      { return n.at }
func (n *conditional) pos() Position { return n.at }
func (n *call) pos() Position        { return n.at }

// The operators in their canonical spelling.
const (
	opNot       = "NOT"
	opNegate    = "-"
	opIsSet     = "IS SET"
	opIsNotSet  = "IS NOT SET"
	opIsNumber  = "IS_NUMBER"
	opAnd       = "AND"
	opOr        = "OR"
	opImplies   = "IMPLIES"
	opIn        = "IN"
	opNotIn     = "NOT IN"
	opMatches   = "matches"
	opContains  = "contains"
	opStarts    = "startsWith"
	opEnds      = "endsWith"
	opEqual     = "=="
	opNotEqual  = "!="
	opLess      = "<"
	opLessEq    = "<="
	opGreater   = ">"
	opGreaterEq = ">="
)

// children returns the operands of a node.
func children(n node) []node {
	switch n := n.(type) {
	case *member:
		if n.index == nil {
			return []node{n.base}
		}
		return []node{n.base, n.index}
	case *arrayNode:
		return n.items
	case *objectNode:
		return n.values
	case *unary:
		return []node{n.x}
	case *binary:
		return []node{n.l, n.r}
	case *conditional:
		return []node{n.cond, n.then, n.els}
	case *call:
		return n.args
	default:
		return nil
	}
}

// walk calls the function "visit" for a node and for all nodes below it.
func walk(n node, visit func(node)) {
	visit(n)
	for _, child := range children(n) {
		walk(child, visit)
	}
}
