package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/internal/spell"
)

// Parse reads and checks the file of an agent. If one of the problems is an error, the document is
// incomplete.
func Parse(file string, src []byte) (*Document, problem.List) { return parse(file, src, false) }

// ParseFragment reads and checks a part of an agent file, such as a MEMORY block, a step, a list of
// actions or a constraint.
func ParseFragment(file string, src []byte) (*Document, problem.List) { return parse(file, src, true) }

func parse(file string, src []byte, fragment bool) (*Document, problem.List) {
	root, _, problems := readTree(src)
	r := &reader{doc: &Document{File: file}, problems: problems, fragment: fragment}
	readDocument(r, root)
	if len(problems) == 0 { // a tree with errors would cause misleading problems
		newChecker(r).check()
	}
	for i := range r.problems {
		r.problems[i].File = file
	}
	return r.doc, r.problems.Sorted()
}

// reader converts a tree of entries to a document.
type reader struct {
	doc      *Document
	fragment bool
	problems problem.List
}

const maxProblems = 200

func (r *reader) report(p problem.Problem) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, p)
	}
}

func (r *reader) errorf(at Position, code problem.Code, hint, format string, args ...any) {
	r.report(problemAt(at, code, hint, format, args...))
}

func (r *reader) warnf(at Position, code problem.Code, hint, format string, args ...any) {
	p := problemAt(at, code, hint, format, args...)
	p.Severity = problem.Warning
	r.report(p)
}

// properties contains functions that read properties. The keys are the names of the properties in
// upper case.
type properties map[string]func(*entry)

// read reads the properties below an entry. The argument "what" is a name for the owner of the
// properties. Messages contain this name.
func (r *reader) read(e *entry, what string, known properties) {
	r.readEntries(e.children, what, known)
}

func (r *reader) readEntries(entries []*entry, what string, known properties) {
	seen := map[string]bool{}
	for _, child := range entries {
		if len(r.problems) >= maxProblems {
			return
		}
		key := strings.ToUpper(child.key)
		switch read, ok := known[key]; {
		case child.dash || key == "":
			hint := "write KEY: value"
			if name, _, found := strings.Cut(child.value.Value, ":"); found && known[strings.ToUpper(name)] != nil {
				hint = "put a space after the colon"
			}
			r.errorf(child.at(), problem.Syntax, hint, "expected a property of %s instead of %s", what, problem.Quote(child.source()))
		case !ok:
			r.unknownKey(child, what, known)
		case seen[key]:
			r.errorf(child.at(), problem.DuplicateName, "remove one of the two keys", "%s has the key %s twice", what, child.key)
		default:
			seen[key] = true
			read(child)
		}
	}
}

// source returns the line of an entry without its dash.
func (e *entry) source() string {
	if e.key == "" {
		return e.value.Value
	}
	return strings.TrimSpace(e.key + ": " + e.value.Value)
}

func (r *reader) unknownKey(e *entry, what string, known properties) {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	if best := spell.Name(strings.ToUpper(e.key), names); best != "" && !slices.Contains(foreign, strings.ToUpper(e.key)) {
		r.errorf(e.at(), problem.UnknownKey, "did you mean "+best+"?", "%s has no property %s", what, problem.Quote(e.key))
		return
	}
	r.warnf(e.at(), problem.UnknownKey, "remove the key, or write one of "+strings.Join(names, ", "), "the key %s is not supported in %s and has no effect", e.key, what)
}

// foreign contains keys that only other implementations of the language support. These keys must
// not be reported as misspelled keys of toolrun.
var foreign = []string{"ON_ERROR", "GATHER", "ESCALATE", "COMPLETE", "TEMPLATES", "MESSAGE_KEY", "VOICE", "FORMATS", "ACTIONS", "DELEGATE",
	"PERSONA", "LIMITATIONS", "GUARDRAILS", "INTENTS", "NLU", "BRANCHES", "PRESENT", "CORRECTIONS", "STRATEGY", "STEP_CONSTRAINTS", "RETRY_DELAY"}

// leaf reports an error if there are lines below an entry that cannot have properties.
func (r *reader) leaf(e *entry) {
	if len(e.children) > 0 {
		r.errorf(e.children[0].at(), problem.Indentation, "indent it like "+e.key, "the key %s has no properties", e.key)
	}
}

// items returns the items below an entry. Each item starts with a dash.
func (r *reader) items(e *entry, what string) []*entry {
	var items []*entry
	for _, child := range e.children {
		if !child.dash {
			r.errorf(child.at(), problem.Syntax, "start the item with a dash: - "+firstWord(child.source()), "each line of %s must be an item that starts with a dash", what)
			continue
		}
		items = append(items, child)
	}
	return r.limited(items, what)
}

// limited returns at most the first MaxItems entries. If an entry is removed, limited reports an
// error.
func (r *reader) limited(entries []*entry, what string) []*entry {
	if len(entries) > MaxItems {
		r.errorf(entries[MaxItems].at(), problem.OverLimit, "", "%s has more than %d items", what, MaxItems)
		return entries[:MaxItems]
	}
	return entries
}

func firstWord(s string) string {
	first, _, _ := strings.Cut(s, " ")
	return first
}

// readBlocks returns functions that read the blocks of an agent.
func readBlocks(r *reader) properties {
	d := r.doc
	return properties{
		"AGENT":        func(e *entry) { d.Agent = r.name(e, "an agent") },
		"GOAL":         func(e *entry) { d.Goal = r.text(e) },
		"STRICT_TYPES": func(e *entry) { d.StrictTypes = r.boolean(e) },
		"MEMORY":       bind(r, readMemory),
		"CONSTRAINTS":  bind(r, readConstraints),
		"FLOW":         bind(r, readFlow),
		"ON_START":     func(e *entry) { body := readBody(r, e, "ON_START", nil); d.OnStart = &body },
		"HOOKS":        bind(r, readHooks),
		"TOOLS":        bind(r, readTools),
		"HANDOFF":      bind(r, readHandoffs),
	}
}

func readDocument(r *reader, root *entry) {
	if r.fragment && readActions(r, root) {
		return
	}
	known := readBlocks(r)
	var blocks []*entry
	for _, e := range r.limited(root.children, "a file") {
		if len(r.problems) >= maxProblems {
			return
		}
		key := strings.ToUpper(e.key)
		switch {
		case r.fragment && e.dash && ruleOf(e) != "":
			readConstraint(r, e, "")
		case r.fragment && isStep(e):
			addStep(r, e, map[string]Position{})
		case r.fragment && key == "ON_FAIL":
			f := readOnFail(r, e)
			r.doc.OnFail = &f
		case e.key != "" && !e.dash && known[key] == nil && nearBlock(key, known) == "":
			r.doc.Unsupported = append(r.doc.Unsupported, Name{e.at(), e.key})
			r.warnf(e.at(), problem.UnknownKey, "", "the block %s is not supported and has no effect", e.key)
		default:
			blocks = append(blocks, e)
		}
	}
	r.readEntries(blocks, "an agent", known)
	if !r.fragment && r.doc.Agent.Value == "" && len(r.problems) == 0 {
		r.errorf(Position{1, 1}, problem.MissingKey, "start the file with `AGENT: name`", "the agent has no name")
	}
}

// isStep reports whether an entry in a part of a file is a step.
func isStep(e *entry) bool {
	return e.value.Value == "" && slices.ContainsFunc(e.children, func(child *entry) bool { return child.is("REASONING") })
}

// bind returns a function that passes a block to the function "read" with the reader.
func bind(r *reader, read func(*reader, *entry)) func(*entry) {
	return func(e *entry) { read(r, e) }
}

// nearBlock returns the name of the block that resembles a misspelled key most.
func nearBlock(key string, known properties) string {
	if slices.Contains(foreign, key) {
		return ""
	}
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return spell.Name(key, names)
}

// readActions reads a part of a file that consists of actions, such as SET and RESPOND. If the part
// does not consist of actions, readActions returns false.
func readActions(r *reader, root *entry) bool {
	for _, e := range root.children {
		if !slices.Contains(actionKeys, strings.ToUpper(e.key)) && !(e.is("ON_FAIL") && len(root.children) > 1) {
			return false
		}
	}
	if len(root.children) == 0 {
		return false
	}
	body := readBody(r, root, "a part", nil)
	r.doc.Body = &body
	return true
}

// readTools reads a list of tools. Each item of the list is the name or the signature of a tool. In
// a signature, only the name of the tool is used.
func readTools(r *reader, e *entry) {
	r.doc.ToolsDeclared = true
	r.doc.Tools = r.names(e.value, "TOOLS")
	for _, child := range r.limited(e.children, "TOOLS") {
		source := child.source()
		name := word(source)
		if name == "" {
			r.errorf(child.at(), problem.BadValue, "write the name of a tool", "the text %s is not the name of a tool", problem.Quote(source))
			continue
		}
		r.doc.Tools = append(r.doc.Tools, Name{child.at(), name})
	}
}

// readHandoffs reads HANDOFF, which lists the agents to which the agent can hand over. Each item is
// a name, or has the properties TO and WHEN.
func readHandoffs(r *reader, e *entry) {
	for _, name := range r.names(e.value, "HANDOFF") {
		r.doc.Handoffs = append(r.doc.Handoffs, Handoff{Agent: name})
	}
	for _, item := range r.items(e, "HANDOFF") {
		h := Handoff{}
		switch {
		case item.is("TO"):
			h.Agent = r.nameOf(item.value, "an agent")
			r.read(item, "a handoff", properties{"WHEN": func(e *entry) { h.When = r.condition(e) }})
		case item.key == "":
			h.Agent = r.nameOf(item.value, "an agent")
			r.read(item, "a handoff", properties{"WHEN": func(e *entry) { h.When = r.condition(e) }})
		default:
			r.errorf(item.at(), problem.Syntax, "write `- Agent_Name` or `- TO: Agent_Name`", "the item %s is not a handoff", problem.Quote(item.source()))
			continue
		}
		r.doc.Handoffs = append(r.doc.Handoffs, h)
	}
}

func readHooks(r *reader, e *entry) {
	points := []string{"before_agent", "after_agent", "before_turn", "after_turn"}
	known := properties{}
	for _, point := range points {
		known[strings.ToUpper(point)] = func(e *entry) {
			h := Hook{Name: Name{e.at(), point}}
			h.Body = readBody(r, e, point, properties{"CRITICAL": func(e *entry) { h.Critical = r.boolean(e) }})
			r.doc.Hooks = append(r.doc.Hooks, h)
		}
	}
	r.read(e, "HOOKS", known)
}
