package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

func readMemory(r *reader, e *entry) {
	m := &r.doc.Memory
	r.read(e, "MEMORY", properties{
		"SESSION": func(e *entry) {
			for _, item := range r.items(e, "session") {
				m.Session = append(m.Session, readVariable(r, item))
			}
		},
		"PERSISTENT": func(e *entry) {
			for _, item := range r.items(e, "persistent") {
				m.Persistent = append(m.Persistent, readFact(r, item, AccessReadWrite))
			}
		},
		"READS":    func(e *entry) { readShorthand(r, e, AccessRead) },
		"WRITES":   func(e *entry) { readShorthand(r, e, AccessWrite) },
		"REMEMBER": bind(r, readTriggers),
		"RECALL":   bind(r, readRecalls),
	})
}

// readShorthand reads the list of paths in READS or WRITES. If both lists contain a path, the path
// can be read and written.
func readShorthand(r *reader, e *entry, access Access) {
	var facts []Fact
	for _, path := range r.names(e.value, e.key) {
		facts = append(facts, newFact(path, access))
	}
	for _, item := range r.items(e, e.key) {
		facts = append(facts, readFact(r, item, access))
	}
	m := &r.doc.Memory
	for _, f := range facts {
		i := slices.IndexFunc(m.Persistent, func(other Fact) bool { return other.Value == f.Value && other.Access != f.Access })
		if i < 0 {
			m.Persistent = append(m.Persistent, f)
			continue
		}
		m.Persistent[i].Access = AccessReadWrite
	}
}

// readDeclared returns the text of an item that declares a name.
func readDeclared(r *reader, item *entry, what string) Text {
	if item.key != "" {
		r.errorf(item.at(), problem.Syntax, "write `- name`, and write properties on indented lines below", "the item %s is not %s", problem.Quote(item.source()), what)
	}
	return r.unquote(item.value)
}

func readVariable(r *reader, item *entry) Variable {
	v := Variable{Reset: ResetSession}
	v.Name = r.pathOf(readDeclared(r, item, "a session variable"), "a session variable")
	if strings.Contains(v.Value, ".") {
		r.errorf(v.Position, problem.BadValue, "declare a path under `persistent`", "the name of the session variable %s contains a dot", problem.Quote(v.Value))
	}
	known := properties{
		"TYPE":        func(e *entry) { v.Type = r.typeOf(e) },
		"DESCRIPTION": func(e *entry) { v.Description = r.text(e).Value },
		"INITIAL":     func(e *entry) { v.Initial = r.constantOf(e) },
		"RESET":       func(e *entry) { v.Reset = Reset(r.choice(e, "per_session", "per_activation", "per_step", "never")) },
	}
	known["INITIAL_VALUE"] = known["INITIAL"]
	readSensitive(r, known, &v.Sensitive)
	r.read(item, "a session variable", known)
	checkType(r, item, "INITIAL", v.Type, v.Initial)
	return v
}

// readSensitive adds functions that read the properties of confidential values.
func readSensitive(r *reader, known properties, s **Sensitive) {
	get := func() *Sensitive {
		if *s == nil {
			*s = &Sensitive{Display: "redact", Mask: Mask{ShowLast: 4, Char: "*"}}
		}
		return *s
	}
	known["SENSITIVE"] = func(e *entry) {
		if r.boolean(e) {
			get()
		}
	}
	known["SENSITIVE_DISPLAY"] = func(e *entry) { get().Display = r.choice(e, "redact", "mask", "replace") }
	known["MASK_CONFIG"] = func(e *entry) {
		mask := &get().Mask
		r.read(e, "MASK_CONFIG", properties{
			"SHOWFIRST": func(e *entry) { mask.ShowFirst = r.count(e) },
			"SHOWLAST":  func(e *entry) { mask.ShowLast = r.count(e) },
			"CHAR":      func(e *entry) { mask.Char = r.text(e).Value },
		})
	}
}

// newFact returns a fact. The path of the fact determines its scope and its domain.
func newFact(path Name, access Access) Fact {
	f := Fact{Name: path, Access: access, Scope: ScopeUser}
	segments := strings.Split(path.Value, ".")
	switch segments[0] {
	case "project":
		f.Scope = ScopeProject
	case "workflow", "execution_tree":
		f.Scope = ScopeTree
	}
	if len(segments) > 1 {
		f.Domain = segments[1]
	}
	return f
}

func readFact(r *reader, item *entry, access Access) Fact {
	f := newFact(r.pathOf(readDeclared(r, item, "a path"), "a persistent variable"), access)
	if f.Value != "" && !strings.Contains(f.Value, ".") {
		r.errorf(f.Position, problem.BadValue, "write user."+f.Value+" or project."+f.Value, "the path %s consists of only one name", problem.Quote(f.Value))
	}
	known := properties{
		"SCOPE":       func(e *entry) { f.Scope = readScope(r, e, f) },
		"ACCESS":      func(e *entry) { f.Access = Access(r.choice(e, "read", "write", "readwrite")) },
		"TYPE":        func(e *entry) { f.Type = r.typeOf(e) },
		"UNIT":        func(e *entry) { f.Unit = r.text(e).Value },
		"DEFAULT":     func(e *entry) { f.Default = r.constantOf(e) },
		"DESCRIPTION": func(e *entry) { f.Description = r.text(e).Value },
		"DOMAIN":      func(e *entry) { f.Domain = r.text(e).Value },
	}
	known["DEFAULT_VALUE"] = known["DEFAULT"]
	readSensitive(r, known, &f.Sensitive)
	r.read(item, "a persistent variable", known)
	checkType(r, item, "DEFAULT", f.Type, f.Default)
	return f
}

// readScope reads SCOPE. If the first name of the path is a different scope, readScope adds a
// warning.
func readScope(r *reader, e *entry, f Fact) FactScope {
	scope := FactScope(r.choice(e, "user", "project", "execution_tree", "workflow"))
	if scope == "workflow" {
		scope = ScopeTree
	}
	first, _, _ := strings.Cut(f.Value, ".")
	if scope != "" && scope != f.Scope && slices.Contains([]string{"user", "project", "workflow", "execution_tree"}, first) {
		r.warnf(e.value.Position, problem.Scope, "rename the path; SCOPE takes precedence over the first name", "the first name of the path %s is a scope, but SCOPE declares the scope %s", f.Value, scope)
	}
	return scope
}

// checkType adds a warning if a constant does not have the declared type.
func checkType(r *reader, item *entry, key string, t Type, value any) {
	if t == "" || value == nil || HasType(value, t) {
		return
	}
	for _, child := range item.children {
		if child.is(key) || child.is(key+"_VALUE") {
			r.warnf(child.value.Position, problem.BadValue, "", "the value of %s is not of the type %s", key, t)
		}
	}
}

// HasType reports whether a value has the given type. The value null has every type. Every value
// has the type "".
func HasType(value any, t Type) bool {
	if isUnset(value) || t == "" {
		return true
	}
	if t == "date" {
		s, ok := value.(string)
		_, valid := parseDate(s)
		return ok && valid
	}
	return TypeOf(value) == string(t)
}

func readRecalls(r *reader, e *entry) {
	for _, item := range r.items(e, "recall") {
		c := Recall{Position: item.at(), Action: ActionPrompt}
		known := properties{
			"ON":          func(e *entry) { c.Event = readEvent(r, e) },
			"ACTION":      func(e *entry) { c.Action = r.choice(e, ActionInject, ActionLoad, ActionPrompt) },
			"PATHS":       func(e *entry) { c.Paths = r.nameList(e, "PATHS") },
			"DOMAIN":      func(e *entry) { c.Domain = r.text(e).Value },
			"INSTRUCTION": func(e *entry) { c.Instruction = r.text(e).Value },
		}
		r.readEntries(flattened(item), "a recall", known)
		checkRecall(r, c)
		r.doc.Memory.Recalls = append(r.doc.Memory.Recalls, c)
	}
}

// flattened returns all properties of an item: the property on the same line as the dash, and the
// properties on the lines below.
func flattened(item *entry) []*entry {
	first := *item
	first.dash, first.children = false, nil
	return append([]*entry{&first}, item.children...)
}

func checkRecall(r *reader, c Recall) {
	switch {
	case c.Event.Kind == "" && !r.hasProblemAt(c.Position):
		r.errorf(c.Position, problem.MissingKey, "write ON: session:start", "the recall has no event")
	case c.Action == ActionInject && len(c.Paths) == 0:
		r.errorf(c.Position, problem.MissingKey, "write PATHS: [user.name]", "the recall injects no paths")
	case c.Action == ActionLoad && c.Domain == "" && len(c.Paths) == 0:
		r.errorf(c.Position, problem.MissingKey, `write DOMAIN: "name"`, "the recall has no domain to load")
	case c.Action == ActionPrompt && c.Instruction == "":
		r.errorf(c.Position, problem.MissingKey, `write INSTRUCTION: "text", or another ACTION`, "the recall has no instruction")
	}
}

// hasProblemAt reports whether a problem was found on a line.
func (r *reader) hasProblemAt(at Position) bool {
	return slices.ContainsFunc(r.problems, func(p problem.Problem) bool { return p.Line == at.Line })
}

// readEvent reads an event such as "session:start".
func readEvent(r *reader, e *entry) Event {
	value := r.text(e)
	ev, mistake := parseEvent(value.Value)
	ev.Position = value.Position
	if mistake != nil {
		r.errorf(value.Position, problem.BadValue, mistake.Hint, "%s", mistake.Message)
	}
	return ev
}
