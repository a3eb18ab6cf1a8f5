package bundle

import (
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// Bounds beside that of nested brackets. Of what nothing bounds, the parsers overflow their stack, which ends the
// process, or take time that grows with its square.
const (
	// maxChain bounds what a parser keeps on its stack in one place: 1+1+1..., !!!!!x, a=>b=>c, if (a) b; else if
	// (c) d; else ... The stack is full from about 100,000 on; the longest chain in a package is about 1,300.
	maxChain = 5_000
	// maxItems bounds variables of one declaration, expressions joined with commas, and cases of one switch.
	// Arguments, arrays and objects may have any number.
	maxItems = 10_000
)

// arrowWeight is what an arrow adds to a chain. Each is a scope, like a bracket, and the parsers take cubic time.
const arrowWeight = maxChain / engine.MaxSourceNesting

// scan is what a look at the tokens of a file tells.
type scan struct {
	words   map[string]int // how often each word is there, but for properties after a dot
	imports []importSpan   // static imports at the top level
	exports bool           // there is an export at the top level
	regexp  int            // offset of the first regular expression that goja does not know, or -1
	stray   int            // offset of the first closing bracket that closes nothing, or -1
}

// frame is an open bracket, or the file itself.
type frame struct {
	open       byte // ( [ { or ` for a substitution in a template, 0 for the file
	control    bool // the head of if, for, while, with, switch or catch
	expression bool // a brace that is no block: what follows it continues an expression
	call       bool // parentheses after an operand: arguments
	ended      bool // a statement ended here, unless "else" continues it
	cases      int  // of a switch
	statement
}

// statement is what a frame knows of the statement that it is in.
type statement struct {
	run       int // weight of the tokens since the last place where parsers come back
	elses     int // "else" so far; a comma does not end their chain
	ternaries int // question marks that wait for their colon
	angles    int // in TypeScript, < that wait for their >
	commas    int
	bodies    int  // functions and classes that wait for their body
	declares  bool // the first of them is a declaration
	begun     bool // not at its start any more
}

// scanner follows the brackets of a source.
type scanner struct {
	lexer
	lang   language
	frames []frame
	closed frame // the frame that a closing bracket ended last
	prev   token
	prior  token // the one before prev
	label  bool  // the last colon belonged to no question mark
	suffix bool  // the last exclamation mark follows its operand, as TypeScript allows
	chain  int   // the sum of run over all frames
	found  scan

	importing *importSpan
	named     bool // the import has got to the name of its module
}

// scanSource looks at a file before a parser does. It refuses what nests so deep that a parser could overflow
// the stack, and finds what form.go wants to know.
func scanSource(file, src string, lang language) (scan, *abi.Fault) {
	s := newScanner(src, lang)
	if fault := s.scan(file); fault != nil {
		return scan{}, fault
	}
	return s.found, nil
}

func newScanner(src string, lang language) *scanner {
	return &scanner{
		lexer:  lexer{src: src},
		lang:   lang,
		frames: []frame{{}},
		found:  scan{words: map[string]int{}, regexp: -1, stray: -1},
	}
}

func (s *scanner) scan(file string) *abi.Fault {
	for {
		t := s.next(s.afterOperand())
		t.member = s.prev.kind == punct && (s.text(s.prev) == "." || s.text(s.prev) == "?.")
		s.importDeclaration(t)
		if t.kind == end {
			return nil
		}
		if why, hint := s.token(t); why != "" {
			return invalid(placeIn(file, s.src, t.start), "%s", why).WithHint("%s", hint)
		}
		s.prior, s.prev = s.prev, t
	}
}

func (s *scanner) text(t token) string { return s.src[t.start:t.end] }

func (s *scanner) top() *frame { return &s.frames[len(s.frames)-1] }

// token takes in one token and says why the source must be refused, if it must.
func (s *scanner) token(t token) (why, hint string) {
	text := s.text(t)
	s.newStatement(t, text)
	s.weigh(1)
	depth := len(s.frames) - 1
	switch t.kind {
	case word:
		s.word(t, text)
	case pattern:
		if s.found.regexp < 0 && unknownToGoja(text) {
			s.found.regexp = t.start
		}
	case punct:
		s.punct(t, text)
	}
	if depth < len(s.frames) && !modifiers[text] {
		s.frames[depth].begun = true
	}
	return s.refusal(t, text)
}

func (s *scanner) refusal(t token, text string) (why, hint string) {
	html := text == "<" && strings.HasPrefix(s.src[t.start:], "<!--") ||
		text == "--" && strings.HasPrefix(s.src[t.start:], "-->") && (t.newline || s.prev.kind == end)
	switch {
	case len(s.frames)-1 > engine.MaxSourceNesting:
		return "brackets are nested too deep", "nest fewer than 1,000 brackets"
	case s.top().cases > maxItems, s.top().commas > maxItems:
		return "a list of variables, expressions or cases is too long", "keep a long list in an array, and choices in a map"
	case s.chain > maxChain:
		return "an expression or statement is too long", "split it: keep long lists in an array, long choices in a switch"
	case html: // a comment or operators, as the parser likes: a scan must not have to guess
		return "comments of HTML are not supported", "write // in place of <!-- or -->"
	}
	return "", ""
}

// newStatement forgets the weight of a frame where a new statement begins.
func (s *scanner) newStatement(t token, text string) {
	f := s.top()
	ended := f.ended
	f.ended = false
	switch {
	case ended && text == "else":
		f.elses++
	case ended, text == "case" && !t.member,
		t.newline && t.kind <= literal && s.afterOperand() && !infix[text] && !prefix[s.text(s.prev)]:
		s.chain -= f.run
		f.statement = statement{}
	}
}

func (s *scanner) weigh(n int) {
	s.top().run += n
	s.chain += n
}

// afterOperand reports whether the last token ends an operand, so that a slash would divide.
func (s *scanner) afterOperand() bool {
	text := s.text(s.prev)
	switch s.prev.kind {
	case word:
		return s.prev.member || !operators[text]
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
		fallthrough // the text of a template goes on
	case "`":
		return s.top().open != '`' || s.top().run > 0
	}
	return false
}

// word notes what matters of an identifier or a keyword.
func (s *scanner) word(t token, text string) {
	if t.member {
		return
	}
	s.found.words[text]++
	f := s.top()
	switch text {
	case "function", "class":
		if f.bodies++; f.bodies == 1 {
			f.declares = !f.begun && (f.open == 0 || f.open == '{' && !f.expression)
		}
	case "case":
		f.cases++
	case "export":
		s.found.exports = s.found.exports || len(s.frames) == 1
	case "import":
		if len(s.frames) == 1 {
			s.importing, s.named = &importSpan{start: t.start}, false
		}
	}
}

func (s *scanner) punct(t token, text string) {
	f := s.top()
	switch text {
	case "(", "[", "{":
		s.open(text[0])
	case ")", "]", "}":
		s.close(t, text[0])
	case "`":
		s.substitute()
	case ";":
		f.ended = true
	case ",":
		if f.angles == 0 {
			s.weigh(f.elses - f.run)
		}
		if !f.call && !f.expression && f.open != '[' {
			f.commas++
		}
	case "=>":
		s.weigh(arrowWeight)
	case "!", "++", "--":
		s.suffix = s.afterOperand() && !t.newline
	case "?":
		f.ternaries++
	case ":":
		s.label = f.ternaries == 0
		f.ternaries = max(0, f.ternaries-1)
	case "<":
		if s.lang == typescript {
			f.angles++
		}
	case ">":
		f.angles = max(0, f.angles-1)
	}
}

func (s *scanner) open(bracket byte) {
	f := frame{open: bracket}
	switch bracket {
	case '(':
		f.call = s.afterOperand()
		f.control = s.head(s.prev) || s.text(s.prev) == "await" && s.text(s.prior) == "for"
	case '{':
		f.expression = s.opensExpression()
	}
	s.frames = append(s.frames, f)
}

// unknownToGoja reports whether a regular expression has a flag or an escape that goja refuses or, worse, takes for
// something else.
func unknownToGoja(text string) bool {
	slash := strings.LastIndexByte(text, '/')
	flags := text[slash:]
	property := strings.Contains(text[:slash], `\p{`) || strings.Contains(text[:slash], `\P{`)
	return strings.ContainsAny(flags, "dv") || property && strings.Contains(flags, "u")
}

// head reports whether t is a keyword whose parentheses no operand ends with.
func (s *scanner) head(t token) bool { return t.kind == word && !t.member && control[s.text(t)] }

// opensExpression tells an object literal, or the body of a function or class expression, from a block.
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

func (s *scanner) close(t token, bracket byte) {
	f := *s.top()
	if !pairs(f.open, bracket) {
		if s.found.stray < 0 {
			s.found.stray = t.start
		}
		return
	}
	s.chain -= f.run
	s.frames = s.frames[:len(s.frames)-1]
	s.closed = f
	if f.open == '`' {
		s.substitute()
	}
	s.top().ended = f.open == '{' && !f.expression
}

// substitute reads on in a template: to its end, or to the next substitution.
func (s *scanner) substitute() {
	if s.template() {
		s.frames = append(s.frames, frame{open: '`'})
	}
}

func pairs(open, closing byte) bool {
	switch open {
	case '(':
		return closing == ')'
	case '[':
		return closing == ']'
	}
	return (open == '{' || open == '`') && closing == '}'
}
