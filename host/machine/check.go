package machine

import (
	"math"
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// checker checks a whole document. The type reader reads one line at a time, so it cannot find the
// mistakes that checker finds.
type checker struct {
	*source
	steps map[string]*Step
}

func check(r *source) {
	c := checker{source: r, steps: map[string]*Step{}}
	if r.doc.Name.Value != "" {
		r.named(r.doc.Name, "a machine")
	}
	if len(r.doc.Steps) == 0 && len(r.problems) == 0 {
		r.errorf(r.doc.Name.Position, problem.MissingKey, "write `implements`, and write the steps on the lines below", "the machine has no steps")
	}
	for i := range r.doc.Steps {
		c.step(&r.doc.Steps[i])
	}
	c.permissions()
	c.output()
	c.tests()
}

// reserved contains the names that steps cannot have. reserved contains names that already have a
// meaning in expressions, and words that cannot be the name of a constant in JavaScript.
var reserved = strings.Fields(`input steps now memory model
	arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for
	function if implements import in instanceof interface let new null package private protected public return static super switch
	this throw true try typeof undefined var void while with yield NaN Infinity`)

// requiredSettings maps each kind of step to the settings that a step of this kind must have.
var requiredSettings = map[StepKind][]string{
	Remember: {"content", "collection"}, Recall: {"query", "collection"}, Forget: {"collection"}, Ask: {"task"},
}

func (c checker) step(s *Step) {
	name := s.Name.Value
	if contains(reserved, name) {
		c.errorf(s.Name.Position, problem.BadName, "choose another name", "the name %s is reserved", problem.Quote(name))
	}
	if first := c.steps[name]; first != nil {
		c.errorf(s.Name.Position, problem.DuplicateName, "choose another name", "the step %s is already declared on line %d", problem.Quote(name), first.Line)
	} else {
		c.steps[name] = s
	}
	for _, setting := range requiredSettings[s.Kind] {
		if _, ok := s.Setting(setting); !ok {
			word := setting + ": VALUE"
			if s.Kind == Ask {
				word = "with " + setting + ` "TEXT"`
			}
			c.errorf(s.Position, problem.MissingKey, "add: "+word, "the step %s does not have the required setting `%s`", problem.Quote(name), setting)
		}
	}
	if s.Kind == Ask && s.Model.Line == 0 {
		c.errorf(s.Position, problem.MissingKey, "write: ask "+name+`, using: "MODEL"`, "the step %s does not name a model", problem.Quote(name))
	}
	for _, setting := range s.Settings {
		c.literal(s, setting)
	}
	c.selectors(s)
	c.assumed(s)
	permission := s.Kind.Permission()
	if permission == "" || c.doc.Permissions.Allows(permission) {
		return
	}
	hint := "write `allowed to " + permission + "` under `permissions` in the section `ensures`"
	if slices.ContainsFunc(c.doc.Permissions.Denied, func(n Name) bool { return n.Value == permission }) {
		hint = "remove the permission from: not allowed to"
	}
	c.errorf(s.Position, problem.Permission, hint, "the step %s requires the permission %s", problem.Quote(name), permission)
}

// literal checks the value of a setting if the value is a literal.
func (c checker) literal(s *Step, setting Setting) {
	value, ok := setting.Script.Literal()
	if !ok || placeholderRule().MatchString(setting.Script.Text) {
		return
	}
	number, isNumber := value.(float64)
	text, isText := value.(string)
	bad := func(hint, want string) {
		c.errorf(setting.Script.Position, problem.BadValue, hint, "the %s of the step %s is not %s", setting.Value, problem.Quote(s.Name.Value), want)
	}
	switch setting.Value {
	case "limit":
		if !isNumber || number < 1 || number > 1000 || number != math.Trunc(number) {
			bad("", "an integer from 1 to 1000")
		}
	case "threshold":
		if !isNumber || number < 0 || number > 1 {
			bad("", "a number from 0 to 1")
		}
	case "ttl":
		if !isText {
			bad(`write a duration such as "30d"`, "a duration")
		} else if _, err := declare.ParseRetention(text); err != nil {
			bad(`write a number with one unit, such as "30d", "24h", "30m" or "10s"`, "a valid duration: "+problem.Quote(text))
		}
	case "mode":
		if modes := []string{"hybrid", "vector", "text"}; !isText || !contains(modes, text) {
			bad("the modes are: "+strings.Join(modes, ", "), "a mode")
		}
	case "collection", "namespace", "id", "query", "role", "task":
		switch {
		case !isText:
			bad("", "a text")
		case text == "" && setting.Value != "role" && setting.Value != "namespace":
			c.errorf(setting.Script.Position, problem.BadValue, "write a text that is not empty", "the %s of the step %s is empty", setting.Value, problem.Quote(s.Name.Value))
		}
	case "filter", "metadata":
		bad("write {name: value}", "an object")
	case "scores", "all":
		if _, isFlag := value.(bool); !isFlag {
			bad("write `true` or `false`", "a boolean")
		}
	}
}

// selectors checks that a step "forget" selects entries. At least one setting must select the
// entries to remove.
func (c checker) selectors(s *Step) {
	if s.Kind != Forget {
		return
	}
	for _, name := range []string{"id", "filter", "namespace"} {
		if _, ok := s.Setting(name); ok {
			return
		}
	}
	c.errorf(s.Position, problem.MissingKey, "add `id`, `filter` or `namespace`", "the step %s does not select any entries", problem.Quote(s.Name.Value))
}

// assumed checks the names of the fields in the answer of a model that tests assume.
func (c checker) assumed(s *Step) {
	var known []string
	for _, f := range s.Returns {
		known = append(known, f.Value)
	}
	for i, a := range s.Assuming {
		if len(s.Returns) > 0 && !contains(known, a.Value) {
			c.errorf(a.Position, problem.UnknownName, didYouMean(a.Value, known, "the fields are: "), "the step %s does not return the field %s", problem.Quote(s.Name.Value), problem.Quote(a.Value))
		}
		if slices.ContainsFunc(s.Assuming[:i], func(b Setting) bool { return b.Value == a.Value }) {
			c.errorf(a.Position, problem.DuplicateName, "remove one of the two values", "the field %s is assumed twice", problem.Quote(a.Value))
		}
	}
}

func didYouMean(name string, known []string, otherwise string) string {
	if near := spell.Name(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return ""
	}
	return otherwise + strings.Join(known, ", ")
}

// permissions checks the names of permissions in the section "ensures".
func (c checker) permissions() {
	p := c.doc.Permissions
	known := []string{LLMCall, Memory}
	for _, n := range slices.Concat(p.Allowed, p.Denied) {
		if !contains(known, n.Value) {
			c.warnf(n.Position, problem.UnknownName, didYouMean(n.Value, known, "the permissions are: "), "the permission %s is unknown and has no effect", problem.Quote(n.Value))
		}
	}
	for _, n := range p.Allowed {
		uses := func(s Step) bool { return s.Kind.Permission() == n.Value }
		if contains(known, n.Value) && !slices.ContainsFunc(c.doc.Steps, uses) {
			c.warnf(n.Position, problem.NoEffect, "remove it", "no step uses the permission %s", n.Value)
		}
	}
	names := slices.Concat(known, stepKinds[:len(stepKinds)-1])
	for _, n := range p.Approval {
		if !contains(names, n.Value) {
			c.errorf(n.Position, problem.UnknownName, didYouMean(n.Value, names, "use a permission or a kind of step: "), "the text %s is neither a permission nor a kind of step with effects", problem.Quote(n.Value))
		}
	}
}

// results contains, for each kind of step that uses collections, the fields of the step's result.
var results = map[StepKind][]Field{
	Recall:   {{Name: Name{Value: "results"}, Type: List}, {Name: Name{Value: "count"}, Type: Number}},
	Remember: {{Name: Name{Value: "success"}, Type: Boolean}, {Name: Name{Value: "id"}, Type: Text}, {Name: Name{Value: "expires_at"}, Type: Any}},
	Forget:   {{Name: Name{Value: "count"}, Type: Number}, {Name: Name{Value: "more"}, Type: Boolean}},
}

// Results returns the fields of the result of a step. If the fields are unknown, Results returns
// nil.
func (s Step) Results() []Field {
	switch {
	case s.Kind == Ask && len(s.Returns) == 0:
		return []Field{{Name: Name{Value: "text"}, Type: Text}}
	case s.Kind == Ask:
		return s.Returns
	}
	return results[s.Kind]
}

// output compares the result of the last step with the section "responds with".
func (c checker) output() {
	if len(c.doc.Steps) == 0 {
		return
	}
	last := c.doc.Steps[len(c.doc.Steps)-1]
	known := last.Results()
	if known == nil {
		return
	}
	for _, f := range c.doc.Responds {
		i := slices.IndexFunc(known, func(k Field) bool { return k.Value == f.Value })
		switch {
		case i < 0 && !f.Optional:
			c.errorf(f.Position, problem.UnknownName, "end the machine with a step `compute` that returns the field", "the last step %s does not return the field %s", problem.Quote(last.Name.Value), problem.Quote(f.Value))
		case i >= 0 && !fits(known[i].Type, f.Type):
			c.errorf(f.Position, problem.BadValue, "", "the field %s has the type %s here, but the type %s in the last step %s", problem.Quote(f.Value), f.Type, known[i].Type, problem.Quote(last.Name.Value))
		}
	}
}

// fits reports whether a value of the first type can also be a value of the second type.
func fits(value, target Type) bool {
	return value == target || value == Any || target == Any || value == Integer && target == Number || value == Number && target == Integer
}

func (c checker) tests() {
	seen := map[string]bool{}
	for _, t := range c.doc.Tests {
		if seen[t.Name] {
			c.errorf(t.Position, problem.DuplicateName, "choose another name", "two tests have the name %s", problem.Quote(t.Name))
		}
		seen[t.Name] = true
		if t.Expect.Text == "" {
			c.errorf(t.Position, problem.MissingKey, "add: expect {...}", "the test %s has no expectation", problem.Quote(t.Name))
		}
		for i, a := range t.Assuming {
			if c.steps[a.Value] == nil {
				var names []string
				for _, s := range c.doc.Steps {
					names = append(names, s.Name.Value)
				}
				c.errorf(a.Position, problem.UnknownName, didYouMean(a.Value, names, "the steps are: "), "the machine has no step %s", problem.Quote(a.Value))
			}
			if slices.ContainsFunc(t.Assuming[:i], func(b Setting) bool { return b.Value == a.Value }) {
				c.errorf(a.Position, problem.DuplicateName, "remove one of the two results", "the test assumes two results of the step %s", problem.Quote(a.Value))
			}
		}
	}
}
