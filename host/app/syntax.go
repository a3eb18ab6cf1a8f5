package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// syntaxProblem converts an error of the parser to a problem that has a hint. The parser reports
// where it detected the mistake. The mistake itself is often on the line before this position, or
// in the indentation.
func syntaxProblem(file string, content []byte, err error) problem.Problem {
	at, message := position{file, 1, 1}, err.Error()
	var known yaml.Error
	if errors.As(err, &known) {
		at, message = positionOfToken(file, known.GetToken()), known.GetMessage()
	}
	const maxLength = 120
	if len(message) > maxLength {
		message = message[:maxLength]
	}
	lines := strings.Split(string(content), "\n")
	at.line = min(at.line, len(lines))
	line := lines[at.line-1]
	hint := ""
	switch {
	case strings.Contains(message, `'	'`):
		message, hint = "YAML does not allow tabs in indentation", "indent with spaces"
	case strings.Contains(line, ": {{"):
		hint = "put strings that begin with `{{` in quotes"
	case missingSpace().MatchString(line):
		hint = "put a space after the colon"
	case strings.Contains(message, "mapping value is not allowed"):
		if next := nextLine(lines, at.line); goesDeeper(lines, at, next) {
			message = fmt.Sprintf("the line is indented more than line %d, which already has a value", at.line)
			hint = "indent it " + open{indentOf(line), at.line}.String()
			at = position{file, next, indentOf(lines[next-1]) + 1}
			break
		}
		hint = "put strings that contain `: ` in quotes"
	case strings.Contains(message, "value is not allowed") && indentOf(line) == at.column-1:
		if fitting := fittingIndents(lines, at.line); fitting != "" {
			message, hint = "the indentation of this line does not match any line above", fitting
		}
	}
	return newProblem(at, problem.Syntax, hint, "%s", strings.ToValidUTF8(message, ""))
}

// missingSpace matches a line that consists only of a key and a value without a space between them,
// such as "key:value".
var missingSpace = lazyregexp.New(`^ *(- +)*[A-Za-z_][A-Za-z0-9_-]*:[^ /]\S*$`)

// nextLine returns the number of the next line that is not empty. If no such line exists,
// nextLine returns 0.
func nextLine(lines []string, after int) int {
	for i := after; i < len(lines); i++ {
		if !isEmpty(lines[i]) {
			return i + 1
		}
	}
	return 0
}

// goesDeeper reports whether two conditions are true: the value at a position is a plain word, and
// the next line is indented more deeply. In this case, the word was probably meant as a key.
func goesDeeper(lines []string, at position, next int) bool {
	if next == 0 {
		return false
	}
	line := []rune(lines[at.line-1])
	value := string(line[min(at.column-1, len(line)):])
	return !strings.Contains(value, ": ") && indentOf(lines[next-1]) > indentOf(lines[at.line-1]) && strings.Contains(lines[next-1], ":")
}

// fittingIndents returns a hint that contains the possible indentations of a line. Each of them is
// the indentation of a mapping or list that contains the line. If the line already has such an
// indentation, the result is "".
func fittingIndents(lines []string, number int) string {
	var above []open // the outermost is the first, and the innermost is the last
	push := func(indent, line int) {
		for len(above) > 0 && above[len(above)-1].indent >= indent {
			above = above[:len(above)-1]
		}
		above = append(above, open{indent, line})
	}
	for i, line := range lines[:number-1] {
		if isEmpty(line) {
			continue
		}
		indent := indentOf(line)
		push(indent, i+1)
		for rest := line[indent:]; strings.HasPrefix(rest, "- "); { // the content after a dash is one level deeper
			item := strings.TrimLeft(rest[1:], " ")
			indent += len(rest) - len(item)
			push(indent, i+1)
			rest = item
		}
	}
	own := indentOf(lines[number-1])
	inner := slices.IndexFunc(above, func(o open) bool { return o.indent >= own })
	if inner >= 0 && above[inner].indent == own {
		return ""
	}
	var fitting []string
	if inner >= 0 {
		fitting, above = append(fitting, above[inner].String()), above[:inner]
	}
	if len(above) > 0 {
		fitting = append(fitting, above[len(above)-1].String())
	}
	return "indent it " + strings.Join(fitting, ", or ")
}

// open is a mapping or a list whose end has not been reached. The field "line" is the number of the
// last line of the mapping or list that has been read.
type open struct{ indent, line int }

func (o open) String() string { return fmt.Sprintf("%s, like line %d", spaces(o.indent), o.line) }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isEmpty(line string) bool {
	text := strings.TrimSpace(line)
	return text == "" || strings.HasPrefix(text, "#")
}

func spaces(n int) string {
	switch n {
	case 0:
		return "by 0 spaces"
	case 1:
		return "by 1 space"
	}
	return fmt.Sprintf("by %d spaces", n)
}
