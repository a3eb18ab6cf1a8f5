package bundle

import "strings"

// After an operand, a slash is a division. Elsewhere, a slash begins a regular expression. A scan
// that mistakes a division for a regular expression also misreads the code after the slash. The
// rules for slashes are therefore detailed, and FuzzScan tests the rules.

// divides reports whether a slash is a division. If a statement can be complete, and a slash
// follows on the next line, then the slash begins a new statement and is not a division.
func (s *scanner) divides(newline bool) bool {
	prev, prior := s.text(s.prev), s.text(s.prior)
	whole := s.top().unset || s.top().alias || s.prev.kind == word && !s.prev.member && jumps[prev] || s.prev.kind == word && jumps[prior] ||
		s.prev.kind == literal && (prior == "from" || prior == "import")
	return s.afterOperand() && !(newline && whole)
}

// afterOperand reports whether the last token ends an operand.
func (s *scanner) afterOperand() bool {
	text := s.text(s.prev)
	switch s.prev.kind {
	case word:
		return s.prev.member || !operators[text] && !s.ofLoop()
	case literal, pattern:
		return true
	case end:
		return false
	}
	switch text {
	case "]":
		return true
	case "!", "++", "--":
		return s.suffix
	case ")":
		return !s.closed.control
	case "}":
		if s.closed.open != '`' {
			return s.closed.expression
		}
		fallthrough // the text of a template continues
	case "`":
		return s.top().open != '`' || s.top().run > 0
	}
	return false
}

// ofLoop reports whether the last token is the keyword "of" in the head of a loop.
func (s *scanner) ofLoop() bool {
	operand := s.prior.kind == word && !declarators[s.text(s.prior)] || s.prior.kind == punct && strings.Contains("]})", s.text(s.prior))
	return s.text(s.prev) == "of" && s.top().control && operand
}

// ambiguous reports whether only a parser can determine the meaning of a slash after the last
// token. For example, await and yield are names outside of some functions, and > can end type
// arguments.
func (s *scanner) ambiguous() bool {
	switch s.text(s.prev) {
	case "await", "yield":
		return !s.prev.member
	case ">":
		return s.lang == typescript
	}
	return false
}

// head reports whether t is a keyword such as "if", after which the text in parentheses is not an
// operand.
func (s *scanner) head(t token) bool { return t.kind == word && !t.member && control[s.text(t)] }

// opensExpression reports whether a brace begins an object literal or the body of a function or
// class expression, instead of a block.
func (s *scanner) opensExpression() bool {
	f, before := s.top(), s.text(s.prev)
	if f.bodies > 0 && (s.prev.kind == word || s.afterOperand() || before == ")" || before == ">" || before == "}") {
		f.bodies--
		return f.bodies > 0 || !f.declares
	}
	switch {
	case s.prev.kind == word && !s.prev.member && operators[before]:
		return before != "do" && before != "else"
	case s.prev.kind != punct, s.afterOperand():
		return false
	case before == ":":
		return !s.label || f.expression || f.open == '(' || f.open == '['
	}
	switch before {
	case ")", "{", "}", ";", "=>":
		return false
	}
	return true
}

// startsStatement reports whether a declaration can begin at the current word.
func (s *scanner) startsStatement(f *frame, newline bool) bool {
	if f.open != 0 && (f.open != '{' || f.expression) {
		return false
	}
	switch before := s.text(s.prev); before {
	case "else", "do", "abstract", "declare":
		return true
	case ")":
		return !f.begun || s.closed.control
	default:
		return !f.begun || f.decorated || newline && prefix[before]
	}
}

// unknownToGoja reports whether a regular expression has a flag that goja rejects.
func unknownToGoja(text string) bool {
	return strings.ContainsAny(text[strings.LastIndexByte(text, '/'):], "dv")
}
