package abl

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// text returns the text of an entry. The entry can be quoted text, a literal block or the rest of
// the line.
func (r *reader) text(e *entry) Text {
	r.leaf(e)
	if e.value.Value == "" && !e.block {
		r.errorf(e.at(), problem.MissingKey, `write `+e.key+`: "text"`, "the key %s has no text", e.key)
	}
	if e.block {
		return e.value
	}
	return r.unquote(unindented(e.value))
}

// unindented removes the indentation of all lines except the first line. A text has several lines
// only if it is in brackets. The indentation of a line in brackets has no meaning, so Format can
// change it.
func unindented(t Text) Text {
	if !strings.Contains(t.Value, "\n") || isQuoted(t) {
		return t
	}
	lines := strings.Split(t.Value, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], " \t")
	}
	t.Value = strings.Join(lines, "\n")
	return t
}

// unquote returns the content of quoted text. If text has no quotes, it is returned unchanged.
func (r *reader) unquote(t Text) Text {
	if t.Value == "" || t.Value[0] != '"' && t.Value[0] != '\'' {
		return t
	}
	l := lexer{text: t}
	tok, mistake := l.next()
	if mistake != nil {
		r.report(*mistake)
		return t
	}
	if strings.TrimSpace(t.Value[tok.end:]) != "" {
		r.errorf(t.at(tok.end), problem.Syntax, `write a quote inside of quotes as \"`, "unexpected %s after the quoted text", problem.Quote(strings.TrimSpace(t.Value[tok.end:])))
	}
	t.Column++
	t.Value = tok.text
	return t
}

// isQuoted reports whether a text is in quotes.
func isQuoted(t Text) bool { return t.Value != "" && (t.Value[0] == '"' || t.Value[0] == '\'') }

// template returns the text of an entry as a template.
func (r *reader) template(e *entry) *Template { return r.templateOf(r.text(e)) }

func (r *reader) templateOf(text Text) *Template {
	t, mistake := parseTemplate(text)
	if mistake != nil {
		r.report(*mistake)
		return nil
	}
	return t
}

// expression returns the expression of an entry.
func (r *reader) expression(e *entry) *Expr {
	r.leaf(e)
	return r.expressionOf(e.value)
}

func (r *reader) expressionOf(t Text) *Expr {
	x, mistake := parseExpr(t)
	if mistake != nil {
		r.report(*mistake)
		return nil
	}
	return x
}

var (
	mentionsIsSet   = lazyregexp.New(`(?i)\bIS\s+(NOT\s+)?SET\b`)
	durationPattern = lazyregexp.New(`^([1-9][0-9]{0,8})([smhd])$`)
)

// condition returns the condition of an entry. Quoted text is always true as a condition, so it is
// reported as a mistake.
func (r *reader) condition(e *entry) *Expr {
	x := r.expression(e)
	if x == nil {
		return nil
	}
	if constant, ok := x.root.(*literal); ok {
		if s, isText := constant.value.(string); isText {
			hint := "write the condition without quotes"
			if mentionsIsSet().MatchString(s) {
				hint = hintIsSet
			}
			r.errorf(x.Position(), problem.Syntax, hint, "the condition is quoted text, which is always true")
			return nil
		}
	}
	return x
}

// constantOf returns the value of an entry that must be a constant. If the value is not a constant,
// constantOf reports an error.
func (r *reader) constantOf(e *entry) any {
	x := r.expression(e)
	if x == nil {
		return nil
	}
	value, ok := x.constant()
	if !ok {
		hint := "write a constant"
		if p, isName := x.root.(*path); isName {
			hint = `quote text: "` + strings.Join(p.names, ".") + `"`
		}
		r.errorf(x.Position(), problem.BadValue, hint, "the expression %s is not a constant", problem.Quote(x.String()))
	}
	return value
}

// boolean reads the value true or false from an entry.
func (r *reader) boolean(e *entry) bool {
	value := r.text(e)
	b, err := strconv.ParseBool(strings.ToLower(value.Value))
	if err != nil || len(value.Value) == 1 {
		r.errorf(value.Position, problem.BadValue, "write `true` or `false`", "the value %s is neither `true` nor `false`", problem.Quote(value.Value))
	}
	return b
}

// count reads an integer from an entry. The integer must be at least 0 and at most a million.
func (r *reader) count(e *entry) int {
	value := r.text(e)
	n, err := strconv.Atoi(value.Value)
	if err != nil || n < 0 || n > 1_000_000 {
		r.errorf(value.Position, problem.BadValue, "write a whole number from 0 to 1000000", "the value %s is not a valid number", problem.Quote(value.Value))
		return 0
	}
	return n
}

// choice returns the value of an entry, which must be one of the given options, in the canonical
// spelling of the option.
func (r *reader) choice(e *entry, options ...string) string {
	value := r.text(e)
	for _, option := range options {
		if strings.EqualFold(option, value.Value) {
			return option
		}
	}
	if value.Value != "" {
		r.errorf(value.Position, problem.BadValue, "write one of "+strings.Join(options, ", "), "the value %s is not allowed for %s", problem.Quote(value.Value), e.key)
	}
	return ""
}

var types = []string{"string", "number", "boolean", "date", "array", "object"}

func (r *reader) typeOf(e *entry) Type { return Type(r.choice(e, types...)) }

// duration reads a duration from an entry. A duration is a number followed by a unit, such as
// "90d".
func (r *reader) duration(e *entry) time.Duration {
	value := r.text(e)
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	if m := durationPattern().FindStringSubmatch(value.Value); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		const longest = 100 * 365 * 24 * time.Hour
		if unit := units[m[2][0]]; err == nil && n <= int64(longest/unit) {
			return time.Duration(n) * unit
		}
		r.errorf(value.Position, problem.BadValue, "write a duration of at most 100 years", "the duration %s is too long", problem.Quote(value.Value))
		return 0
	}
	r.errorf(value.Position, problem.BadValue, `write a number with the unit s, m, h or d, such as "90m" instead of "1h30m", or "7d" instead of "1w"`,
		"the value %s is not a duration", problem.Quote(value.Value))
	return 0
}

// name returns the value of an entry, which must be a name.
func (r *reader) name(e *entry, what string) Name {
	return r.nameOf(r.text(e), what)
}

// nameOf returns the name that a text contains. The text must be a name. A name consists of
// letters, digits, underscores and hyphens.
func (r *reader) nameOf(t Text, what string) Name {
	t = r.unquote(t)
	if t.Value != "" && !isName(t.Value) {
		r.errorf(t.Position, problem.BadValue, "use only letters, digits and _", "the text %s is not a valid name of %s", problem.Quote(t.Value), what)
		return Name{Position: t.Position}
	}
	return Name{t.Position, t.Value}
}

func isName(s string) bool {
	for i, c := range s {
		if i == 0 && !isNameStart(c) || !isNamePart(c) && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 256
}

// isPath reports whether the argument "s" is a dotted path that expressions can read.
func isPath(s string) bool {
	return len(s) <= 512 && !slices.ContainsFunc(strings.Split(s, "."), func(part string) bool { return !isName(part) || strings.Contains(part, "-") })
}

// pathOf returns the path that a text contains. The text must be a dotted path.
func (r *reader) pathOf(t Text, what string) Name {
	if !isPath(t.Value) {
		r.errorf(t.Position, problem.BadValue, "write names separated by dots, such as user.name", "the text %s is not a valid path of %s", problem.Quote(t.Value), what)
		return Name{Position: t.Position}
	}
	return Name{t.Position, t.Value}
}

// names returns the names in a list such as "[a, b.c]" or "a, b.c". If the text is empty, the list
// contains no names.
func (r *reader) names(t Text, what string) []Name {
	inner := t.Value
	offset := 0
	if strings.HasPrefix(inner, "[") {
		if !strings.HasSuffix(inner, "]") {
			r.errorf(t.Position, problem.Syntax, "close the list with `]`", "the list of %s is not closed", what)
			return nil
		}
		inner, offset = inner[1:len(inner)-1], 1
	}
	var names []Name
	loc := locator{text: t}
	for part := range strings.SplitSeq(inner, ",") {
		if len(names) == MaxItems {
			r.errorf(t.Position, problem.OverLimit, "", "%s has more than %d items", what, MaxItems)
			break
		}
		trimmed := strings.TrimLeft(part, " \t\r\n")
		item := Text{Position: loc.at(offset + len(part) - len(trimmed)), Value: strings.TrimRight(trimmed, " \t\r\n")}
		offset += len(part) + 1
		if item = r.unquote(item); item.Value == "" {
			continue
		}
		if name := r.pathOf(item, what); name.Value != "" {
			names = append(names, name)
		}
	}
	return names
}

// nameList returns the names in the value of an entry. The names can also be items below the entry.
func (r *reader) nameList(e *entry, what string) []Name {
	names := r.names(e.value, what)
	for _, item := range r.items(e, what) {
		names = append(names, r.names(Text{Position: item.at(), Value: item.source()}, what)...)
	}
	if len(names) == 0 && len(e.children) == 0 {
		r.errorf(e.at(), problem.MissingKey, "write "+e.key+": [a, b]", "the key %s lists no names", e.key)
	}
	return names
}
