package machine

import (
	"cmp"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/lazyregexp"
	"github.com/toolrun/toolrun/internal/spell"
)

// settingNames maps each kind of step to the names of the settings that a step of this kind can
// have.
var settingNames = map[StepKind][]string{
	Remember: {"content", "collection", "metadata", "namespace", "ttl", "id"},
	Recall:   {"query", "collection", "limit", "threshold", "filter", "namespace", "mode", "scores"},
	Forget:   {"collection", "id", "filter", "namespace", "all"},
	Ask:      {"role", "task"},
}

// stepForms contains, for each kind of step, the form of the step's first line. Hints contain these
// forms.
var stepForms = map[string]string{
	string(Remember): "remember NAME", string(Recall): "recall NAME", string(Forget): "forget NAME", string(Compute): "compute NAME",
	string(Ask): `ask NAME, using: "MODEL"`,
}

var (
	unquotedModel = lazyregexp.New(`^using ?: ?([^\s"]+)$`)
	keyLine       = lazyregexp.New(`^(` + nameText + `)\s*:(?:\s|$)`)
	withLine      = lazyregexp.New(`^with\s+([A-Za-z_]+)(?:\s|$)`)
	usingRule     = lazyregexp.New(`^([A-Za-z_]+) ?: ?("(?:[^"\\]|\\.)*")$`)
)

// steps reads the steps in the section "implements".
func (r reader) steps() {
	for l := r.peek(); l != nil && section(l) == ""; l = r.peek() {
		header := stepHeader(l)
		if header == nil {
			text, _ := words(l)
			hint := "begin a step with: " + strings.Join(stepKinds, ", ")
			first, _, _ := strings.Cut(text, " ")
			if near := spell.Name(first, stepKinds); near != "" || contains(stepKinds, first) {
				hint = "write: " + stepForms[cmp.Or(near, first)]
			}
			r.errorf(r.at(l), problem.Syntax, hint, "the line %s does not begin a step", problem.Quote(text))
			for r.take(l, 2, ""); r.peek() != nil && !boundary(r.peek()); { // the parts of the step
				r.take(r.peek(), 2, "")
			}
			continue
		}
		if len(r.doc.Steps) == MaxItems {
			r.errorf(r.at(l), problem.OverLimit, "", "there are more than %d steps", MaxItems)
			r.next = len(r.lines)
			return
		}
		r.doc.Steps = append(r.doc.Steps, r.step(l, header))
	}
}

func (r reader) step(l *line, header []string) Step {
	text, comment := words(l)
	s := Step{Position: r.at(l), Kind: StepKind(header[1]), Name: r.name(l, header[2], len(header[1]))}
	r.take(l, 2, withComment(text, comment))
	r.named(s.Name, "a step")
	if settingNames[s.Kind] == nil && s.Kind != Compute {
		hint := "the kinds of steps are: " + strings.Join(stepKinds, ", ")
		if near := spell.Name(header[1], stepKinds); near != "" {
			hint = "did you mean " + near + "?"
			s.Kind = StepKind(near)
		} else if header[1] == "returns" {
			hint = "write `returns`, and write `NAME as TYPE` on the lines below"
		}
		r.errorf(s.Position, problem.UnknownKey, hint, "the text %s is not a kind of step", problem.Quote(header[1]))
	}
	if header[3] != "" {
		r.stepOptions(l, &s, header[3])
	}
	if s.Kind == Compute {
		r.body(l, &s)
		return s
	}
	for l := r.peek(); l != nil && !boundary(l); l = r.peek() {
		r.stepPart(l, &s)
	}
	return s
}

// body reads the code of a step "compute". A line that looks like the header of another step
// belongs to the code if the line is indented more deeply than the header of this step.
func (r reader) body(header *line, s *Step) {
	first := r.peek()
	ends := func(l *line) bool { return boundary(l) && l.indent <= header.indent }
	if first == nil || ends(first) {
		r.errorf(s.Position, problem.MissingKey, "add code that ends with an object `{...}`", "the step %s has no code", problem.Quote(s.Name.Value))
		return
	}
	s.Body = r.script(header.end, false, 2, 3, ends)
}

// stepOptions reads the options that follow the name of a step.
func (r reader) stepOptions(l *line, s *Step, text string) {
	m := usingRule().FindStringSubmatch(text)
	if m == nil || m[1] != "using" || s.Kind != Ask {
		hint := "remove the options; only the step `ask` can have an option, for example: using: \"MODEL\""
		if u := unquotedModel().FindStringSubmatch(text); u != nil && s.Kind == Ask {
			hint = `write using: "` + u[1] + `"`
			s.Model = Name{r.at(l), u[1]} // only the quotes are missing
		}
		r.errorf(r.name(l, text, 0).Position, problem.UnknownKey, hint, "the text %s is not an option of the step", problem.Quote(text))
		return
	}
	value, _ := Script{Text: m[2]}.Literal()
	model, ok := value.(string)
	s.Model = Name{r.name(l, m[2], 0).Position, model}
	if !ok || model == "" {
		r.errorf(s.Model.Position, problem.BadValue, `write using: "MODEL"`, "the name of the model is not a text")
	}
}

// endsSetting reports whether the value of a setting ends before a line.
func endsSetting(l *line) bool {
	text, _ := words(l)
	return boundary(l) || keyLine().MatchString(l.text) || withLine().MatchString(l.text) || text == "returns" || text == "assuming"
}

// stepPart reads one part of a step: a setting, or another part of a step "ask".
func (r reader) stepPart(l *line, s *Step) {
	text, comment := words(l)
	key, separator := "", " "
	if m := keyLine().FindStringSubmatch(l.text); m != nil {
		key, separator = m[1], ": "
	} else if m := withLine().FindStringSubmatch(l.text); m != nil {
		key = m[1]
	}
	switch {
	case s.Kind == Ask && text == "returns":
		r.take(l, 3, withComment(text, comment))
		s.Returns = fieldReader(r).fields(4, s.Returns)
		if len(s.Returns) == 0 {
			r.errorf(r.at(l), problem.MissingKey, "write `NAME as TYPE` on the next line", "the list of returned fields is empty")
		}
	case s.Kind == Ask && text == "assuming":
		r.take(l, 3, withComment(text, comment))
		s.Assuming = r.assumed(s.Assuming)
	case key == "":
		hint := "the settings are: " + strings.Join(settingNames[s.Kind], ", ")
		first, _, more := strings.Cut(text, " ")
		switch known := contains(settingNames[s.Kind], first); {
		case s.Kind == Ask && known:
			hint = "write: with " + first + " VALUE"
		case s.Kind == Ask:
			hint = "a step `ask` consists of the parts `with role`, `with task`, `returns` and `assuming`"
		case known && more:
			hint = "write: " + first + ": VALUE"
		}
		r.errorf(r.at(l), problem.Syntax, hint, "the line %s is not a part of the step %s", problem.Quote(text), problem.Quote(s.Name.Value))
		r.take(l, 3, "")
	default:
		r.setting(l, s, key, separator)
	}
}

// setting reads a setting of a step.
func (r reader) setting(l *line, s *Step, key, separator string) {
	prefix := key + separator
	if separator == " " {
		prefix = "with " + prefix
	}
	c := r.keyed(l, key, prefix, 3)
	known := settingNames[s.Kind]
	_, twice := s.Setting(key)
	switch {
	case twice:
		r.errorf(c.Position, problem.DuplicateName, "", "the step %s has two settings %s", problem.Quote(s.Name.Value), key)
	case !contains(known, key) || (separator == " ") != (s.Kind == Ask):
		hint := "the settings are: " + strings.Join(known, ", ")
		if near := spell.Name(key, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		if s.Kind == Ask {
			hint = "a step `ask` consists of the parts `with role`, `with task`, `returns` and `assuming`"
		}
		r.errorf(c.Position, problem.UnknownKey, hint, "the step %s has no setting %s", s.Kind, problem.Quote(key))
	default:
		s.Settings = append(s.Settings, c)
	}
}

func contains(list []string, word string) bool {
	for _, item := range list {
		if item == word {
			return true
		}
	}
	return false
}

// keyed reads an expression that has a name. The argument "prefix" is the formatted text that
// precedes the expression.
func (r reader) keyed(l *line, key, prefix string, level int) Setting {
	c := Setting{Name: r.name(l, key, max(strings.Index(prefix, key), 0))}
	from := c.Column - 1 + len(key) // a name contains only ASCII characters
	rest := strings.TrimLeft(l.text[from-l.indent:], " \t:")
	start := l.start + l.indent + len(l.text) - len(rest)
	r.take(l, level, strings.TrimRight(prefix+rest, " "))
	if c.Script = r.script(start, true, level, level+1, endsSetting); c.Script.Text == "" {
		r.errorf(c.Position, problem.MissingKey, "write the value after the key", "the key %s has no value", key)
	}
	r.placeholder(c.Script)
	return c
}

var placeholderRule = lazyregexp.New(`^(?:"?(<[a-z_]+>)"?|\{ (<[a-z_]+>): <[a-z_]+> \})$`)

// placeholder reports a problem if an expression is a placeholder, such as "<expression>".
func (r *source) placeholder(s Script) {
	if m := placeholderRule().FindStringSubmatch(s.Text); m != nil {
		r.errorf(s.Position, problem.Placeholder, "replace the placeholder with a value", "the text %s is a placeholder", m[1]+m[2])
	}
}

// assumed reads the fields of an assumed answer and appends the fields to the argument "settings".
func (r reader) assumed(settings []Setting) []Setting {
	for l := r.peek(); l != nil; l = r.peek() {
		m := keyLine().FindStringSubmatch(l.text)
		if m == nil || boundary(l) {
			break
		}
		a := r.keyed(l, m[1], m[1]+": ", 4)
		if len(settings) == MaxItems {
			r.errorf(a.Position, problem.OverLimit, "", "there are more than %d fields", MaxItems)
			continue
		}
		settings = append(settings, a)
	}
	return settings
}
