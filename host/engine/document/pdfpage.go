package document

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"
)

// matrix is a transformation [a b c d e f], section 8.3.3.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// mul is m and then n.
func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func move(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// pdfState is what q saves and Q restores of a page, sections 8.4 and 9.3.
type pdfState struct {
	ctm            matrix
	font           *pdfFont
	size, leading  float64
	letter, word   float64 // spaces
	scale          float64 // horizontal, 1 for none
	textAt, lineAt matrix
}

func newPDFState() pdfState {
	return pdfState{ctm: identity, scale: 1, textAt: identity, lineAt: identity}
}

// maxPDFSaved bounds the states that a page saves.
const maxPDFSaved = 10_000

// pdfPage writes the text of a page in the order in which it is shown. Where that goes on elsewhere than where it ended,
// it writes a space or a new line.
type pdfPage struct {
	*pdfReader
	state    pdfState
	saved    []pdfState
	shown    bool
	endX     float64 // where the text ended
	endY     float64
	fontsNow map[string]*pdfFont
	content  int64 // bytes that were interpreted
}

// spend counts the content of a stream, or of several, before it is interpreted.
func (p *pdfPage) spend(contents pdf.Value) {
	streams := []pdf.Value{contents}
	if contents.Kind() == pdf.Array {
		streams = streams[:0]
		for i := range contents.Len() {
			streams = append(streams, contents.Index(i))
		}
	}
	for _, stream := range streams {
		n, err := io.Copy(io.Discard, io.LimitReader(endingReader{p.ctx, stream.Reader()}, maxPDFPage-p.content+1))
		if p.content += n; p.content > maxPDFPage {
			panic(fmt.Errorf("a page has more than %d bytes of content", maxPDFPage))
		}
		if err != nil {
			return // interpreting it gets as far
		}
	}
}

// endingReader cannot be read any more when a context has ended.
type endingReader struct {
	ctx context.Context
	io.Reader
}

func (e endingReader) Read(b []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.Reader.Read(b)
}

// interpret executes a content stream; forms is how many of them show this one.
func (p *pdfPage) interpret(contents, resources pdf.Value, forms int) {
	before := p.fontsNow
	p.fontsNow = p.fontsOf(resources)
	defer func() { p.fontsNow = before }()
	p.spend(contents)
	pdf.Interpret(contents, func(stack *pdf.Stack, operator string) {
		args := make([]pdf.Value, stack.Len())
		for i := range args {
			args[len(args)-1-i] = stack.Pop()
		}
		if p.ctx.Err() != nil {
			panic(errEnough)
		}
		if operator == "Do" {
			p.show(resources, args, forms)
			return
		}
		p.execute(operator, args)
	})
}

// number is an argument, 0 where there is none.
func number(args []pdf.Value, i int) float64 {
	if i >= len(args) {
		return 0
	}
	return args[i].Float64()
}

func matrixOf(args []pdf.Value) (m matrix) {
	for i := range m {
		m[i] = number(args, i)
	}
	return m
}

// execute performs an operator that text depends on.
func (p *pdfPage) execute(operator string, args []pdf.Value) {
	s := &p.state
	switch operator {
	case "q":
		if len(p.saved) < maxPDFSaved {
			p.saved = append(p.saved, *s)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			*s, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		s.ctm = matrixOf(args).mul(s.ctm)
	case "BT":
		s.textAt, s.lineAt = identity, identity
	case "Tc":
		s.letter = number(args, 0)
	case "Tw":
		s.word = number(args, 0)
	case "Tz":
		s.scale = number(args, 0) / 100
	case "TL":
		s.leading = number(args, 0)
	case "Tf":
		if len(args) == 2 {
			s.font, s.size = p.fontsNow[args[0].Name()], args[1].Float64()
		}
	case "Tm":
		s.lineAt = matrixOf(args)
		s.textAt = s.lineAt
	case "TD":
		s.leading = -number(args, 1)
		p.nextLine(number(args, 0), number(args, 1))
	case "Td":
		p.nextLine(number(args, 0), number(args, 1))
	case "T*":
		p.nextLine(0, -s.leading)
	default:
		p.showText(operator, args)
	}
}

func (p *pdfPage) nextLine(x, y float64) {
	p.state.lineAt = move(x, y).mul(p.state.lineAt)
	p.state.textAt = p.state.lineAt
}

// showText performs the operators that show text.
func (p *pdfPage) showText(operator string, args []pdf.Value) {
	s := &p.state
	if len(args) == 0 {
		return
	}
	last := args[len(args)-1]
	switch operator {
	case "\"":
		s.word, s.letter = number(args, 0), number(args, 1)
		fallthrough
	case "'":
		p.nextLine(0, -s.leading)
		fallthrough
	case "Tj":
		p.put(last.RawString())
	case "TJ":
		for i := range last.Len() {
			if part := last.Index(i); part.Kind() == pdf.String {
				p.put(part.RawString())
			} else {
				s.textAt = move(-part.Float64()/1000*s.size*s.scale, 0).mul(s.textAt)
			}
		}
	}
}

// put shows a string in the font.
func (p *pdfPage) put(raw string) {
	s := &p.state
	if raw == "" {
		return
	}
	at := s.textAt.mul(s.ctm)
	text, width := s.font.decode(raw, s.letter, s.word, s.size)
	text = strings.Map(shownRune, text)
	if text != "" {
		p.separate(at)
		p.write(text)
	}
	s.textAt = move(width*s.scale, 0).mul(s.textAt)
	if text != "" {
		end := s.textAt.mul(s.ctm)
		p.shown, p.endX, p.endY = true, end[4], end[5]
	}
}

// separate writes what is between the text before and one that begins there: seen along its direction, a new line for one
// that is more than half its height aside, a space for one that is further on or back than letters are apart.
func (p *pdfPage) separate(at matrix) {
	const aside, on, back = 0.5, 0.15, 0.6
	along := math.Hypot(at[0], at[1])
	height := math.Abs(p.state.size) * math.Hypot(at[2], at[3])
	if !p.shown || along == 0 || height == 0 || unicode.IsSpace(rune(p.out.last())) {
		return
	}
	x, y := at[0]/along, at[1]/along
	dx, dy := at[4]-p.endX, at[5]-p.endY
	further := (dx*x + dy*y) / height
	switch {
	case math.Abs(dy*x-dx*y) > aside*height:
		p.write("\n")
	case further > on || further < -back:
		p.write(" ")
	}
}

// shownRune drops what no page shows.
func shownRune(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == '\u00A0':
		return ' '
	case unicode.IsControl(r):
		return -1
	}
	return r
}

// show performs Do for a form, a content stream of its own, section 8.10.
func (p *pdfPage) show(resources pdf.Value, args []pdf.Value, forms int) {
	if len(args) != 1 || forms >= maxPDFForms {
		return
	}
	form := resources.Key("XObject").Key(args[0].Name())
	if form.Kind() != pdf.Stream || form.Key("Subtype").Name() != "Form" {
		return
	}
	if own := form.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	before, saved := p.state, p.saved
	if m := form.Key("Matrix"); m.Len() == len(matrix{}) {
		values := make([]pdf.Value, m.Len())
		for i := range values {
			values[i] = m.Index(i)
		}
		p.state.ctm = matrixOf(values).mul(p.state.ctm)
	}
	p.saved = nil
	p.interpret(form, resources, forms+1)
	p.state, p.saved = before, saved
}
