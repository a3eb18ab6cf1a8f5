package bundle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
)

// The limits of a scan. A further limit bounds the nesting of brackets. Without the limits, a
// source could make the parsers take quadratic time. A source could also overflow the stack of the
// parsers, which would end the process.
const (
	// maxChain bounds chains of constructs. The chains contain no brackets, but use a parser's
	// stack: 1+1+1..., !!!!!x, a=>b=>c, if (a) b; else if (c) d; else ... The stack of the parser
	// overflows at about 100,000 nested constructs. The longest known chain in a package has about
	// 1,300 constructs.
	maxChain = 5_000
	// maxItems bounds the number of variables in a declaration, the number of expressions in a
	// comma sequence, and the number of cases in a switch. The limit does not apply to arguments,
	// arrays and objects.
	maxItems = 10_000
)

// arrowWeight is the weight of an arrow function in a chain. Like a bracket, each arrow function
// adds a scope. The time that the parsers need grows with the cube of the nesting depth.
const arrowWeight = maxChain / engine.MaxSourceNesting

// scan is the result of scanning the tokens of a file.
type scan struct {
	words   map[string]int // the number of occurrences of each word; words after a dot do not count
	imports []importSpan   // the static imports at the top level
	exports bool           // the file has an export at the top level
	regexp  int            // the offset of the first regular expression that goja does not support, or -1
	stray   int            // the offset of the first unmatched closing bracket, or -1
	opener  int            // the offset of the bracket that is open at the offset stray, or -1
	open    int            // the offset of the innermost open bracket at the end of the file, or -1
}

// frame is an open bracket or the whole file.
type frame struct {
	open       byte // ( or [ or {; ` for a substitution in a template; 0 for the whole file
	at         int  // the offset of the bracket
	control    bool // whether this is the head of if, for, while, with, switch or catch
	expression bool // whether this is a brace within an expression and not a block
	call       bool // whether these are the parentheses of a call's arguments
	ended      bool // whether a statement ended here, unless "else" continues it
	cases      int  // the number of cases, if this is the body of a switch
	statement
}

// statement is the state of the current statement of a frame.
type statement struct {
	run       int // the weight of the tokens since the parser's stack was last at the level of this frame
	elses     int // the number of "else"; a comma does not end their chain
	ternaries int // the number of question marks that still need a colon
	angles    int // in TypeScript, the number of < that still need a >
	commas    int
	bodies    int  // the number of functions and classes that still need a body
	declares  bool // whether the first of these is a declaration
	decorated bool
	variables bool // whether the statement declares variables
	unset     bool // whether the last variable still has no value
	alias     bool // whether the statement declares a TypeScript type
	begun     bool // whether the first token has been read
}

// scanner tracks the brackets and statements of a source.
type scanner struct {
	lexer  lexer
	lang   language
	frames []frame
	closed frame // the frame of the last closing bracket
	prev   token
	prior  token // the token before prev
	label  bool  // whether the last colon did not belong to a question mark
	suffix bool  // whether the last ++, -- or (in TypeScript) ! follows its operand
	chain  int   // the sum of run over all frames
	found  scan

	listed   int // the sum over all commas of their index in a list
	patterns int // the number of steps of all regular expressions
	enums    enums

	importing *importSpan
	named     bool // whether the name of the imported module has been read
}

// scanSource scans a file before a parser reads it. scanSource rejects nesting that could overflow
// a parser's stack. scanSource also collects the data that form.go needs.
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
		found:  scan{words: map[string]int{}, regexp: -1, stray: -1, opener: -1, open: -1},
	}
}

func (s *scanner) scan(file string) *abi.Fault {
	for {
		t := s.lexer.next(s.divides)
		t.member = s.prev.kind == punct && (s.text(s.prev) == "." || s.text(s.prev) == "?.")
		s.importDeclaration(t)
		if t.kind == end {
			if len(s.frames) > 1 {
				s.found.open = s.top().at
			}
			return nil
		}
		if why, hint := s.token(t); why != "" {
			return invalid(locationIn(file, s.lexer.src, t.start), "%s", why).WithHint("%s", hint)
		}
		s.prior, s.prev = s.prev, t
	}
}

func (s *scanner) text(t token) string { return s.lexer.src[t.start:t.end] }

func (s *scanner) top() *frame { return &s.frames[len(s.frames)-1] }

// token processes a token. If the source must be rejected, it returns the reason and a hint.
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
		if why, hint = s.pattern(text); why != "" {
			return why, hint
		}
	case punct:
		s.punct(t, text)
	}
	if s.lang == typescript {
		s.enum(t, text)
	}
	if depth < len(s.frames) && !modifiers[text] {
		s.frames[depth].begun = text != ":" || !s.label
	}
	return s.refusal(t, text)
}

func (s *scanner) refusal(t token, text string) (why, hint string) {
	html := text == "<" && strings.HasPrefix(s.lexer.src[t.start:], "<!--") ||
		text == "--" && strings.HasPrefix(s.lexer.src[t.start:], "-->") && (t.newline || s.prev.kind == end)
	slash := t.kind == pattern || text == "/"
	switch {
	case len(s.frames)-1 > engine.MaxSourceNesting:
		return "brackets are nested too deeply", "nest fewer than 1,000 brackets"
	case s.top().cases > maxItems, s.top().commas > maxItems:
		return "a list of variables, expressions or cases is too long", "use an array for a long list, and a map for many cases"
	case t.kind == literal && t.end-t.start > maxDigits && text[0] <= '9' && text[0] >= '.':
		return "a number has too many digits", "write a number in fewer than " + strconv.Itoa(maxDigits) + " characters"
	case s.listed > maxListed:
		return "the lists of variables and expressions are too long in total", "use arrays for long lists"
	case s.enums.exceeded():
		return "the strings of an enum are too long after inlining", "move long strings into constants, and do not concatenate strings in an enum"
	case s.chain > maxChain:
		return "an expression or statement is too long", "split it, or use an array for a long list and a switch for many cases"
	// A scan cannot determine the meaning of ambiguous slashes and HTML comments.
	case slash && s.ambiguous():
		return fmt.Sprintf("a slash directly after %s is ambiguous", s.text(s.prev)), "add parentheses"
	case html:
		return "HTML comments are not supported", "write // instead of <!-- or -->"
	}
	return "", ""
}

// newStatement resets the state of the frame if a new statement begins.
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

// word processes an identifier or a keyword.
func (s *scanner) word(t token, text string) {
	if t.member {
		return
	}
	s.found.words[text]++
	f := s.top()
	if s.lang == typescript && s.text(s.prev) == "type" && !t.newline {
		f.alias = true
	}
	switch text {
	case "function", "class":
		if f.bodies++; f.bodies == 1 {
			f.declares = s.startsStatement(f, t.newline)
		}
	case "let", "const", "var":
		f.variables, f.unset = true, true
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
		s.open(t, text[0])
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
			s.listed += f.commas
		}
		f.unset = f.variables
	case "=>":
		s.weigh(arrowWeight)
	case "=":
		f.unset = false
	case "@":
		f.decorated = f.decorated || !f.begun
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

func (s *scanner) open(t token, bracket byte) {
	f := frame{open: bracket, at: t.start}
	switch bracket {
	case '(':
		f.call = s.afterOperand()
		f.control = s.head(s.prev) || s.text(s.prev) == "await" && s.text(s.prior) == "for"
	case '{':
		f.expression = s.opensExpression()
	}
	s.frames = append(s.frames, f)
}

func (s *scanner) close(t token, bracket byte) {
	f := *s.top()
	if !pairs(f.open, bracket) {
		if s.found.stray < 0 {
			s.found.stray = t.start
			if f.open != 0 {
				s.found.opener = f.at
			}
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

// substitute skips the text of a template to its end or to the next substitution.
func (s *scanner) substitute() {
	if s.lexer.template() {
		s.frames = append(s.frames, frame{open: '`', at: s.lexer.pos - len("${")})
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

// Scan returns a fault if the parsers cannot safely read JavaScript code. The position of the fault
// is in the code.
func Scan(code string) *abi.Fault {
	_, fault := scanSource("", code, javascript)
	return fault
}
