package abl

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/problem"
)

// readConstraints reads the constraints of all phases in order. The names of the phases have no
// effect.
func readConstraints(r *reader, e *entry) {
	for _, child := range r.limited(e.children, "CONSTRAINTS") {
		switch {
		case child.dash:
			readConstraint(r, child, "")
		case child.key != "" && child.value.Value == "":
			if len(child.children) == 0 {
				r.warnf(child.at(), problem.NoEffect, "", "the phase %s has no constraints", child.key)
			}
			for _, item := range r.items(child, "a phase") {
				readConstraint(r, item, child.key)
			}
		default:
			r.errorf(child.at(), problem.Syntax, "write a phase such as `always:`, and write constraints on indented lines below", "the line %s is not a phase", problem.Quote(child.source()))
		}
	}
	if n := len(r.doc.Constraints); n > MaxItems {
		r.errorf(r.doc.Constraints[MaxItems].Position, problem.OverLimit, "", "CONSTRAINTS has more than %d items", MaxItems)
		r.doc.Constraints = r.doc.Constraints[:MaxItems]
	}
}

var rules = []string{string(RuleRequire), string(RuleLimit), string(RuleRestrict), string(RuleWarn)}

// ruleOf returns the keyword of a rule at the start of an item. If no such keyword exists, the
// result is "".
func ruleOf(item *entry) string {
	keyword := strings.ToUpper(firstWord(item.value.Value))
	if item.key != "" {
		keyword = strings.ToUpper(item.key)
	}
	if slices.Contains(rules, keyword) {
		return keyword
	}
	return ""
}

func readConstraint(r *reader, item *entry, phase string) {
	keyword := ruleOf(item)
	if keyword == "" {
		r.errorf(item.at(), problem.Syntax, "start the line with REQUIRE, LIMIT, RESTRICT or WARN", "the line %s is not a constraint", problem.Quote(item.source()))
		return
	}
	c := Constraint{Position: item.at(), Phase: phase, Rule: Rule(keyword), Severity: problem.Error}
	if c.Rule == RuleWarn {
		c.Severity = problem.Warning
	}
	text := item.value
	if item.key == "" {
		rest := strings.TrimLeft(text.Value[len(keyword):], " \t")
		text.Position = text.at(len(text.Value) - len(rest))
		text.Value = rest
	}
	readRuleCondition(r, text, &c)
	hasOnFail := false
	r.read(item, "a constraint", properties{
		"WHEN":    func(e *entry) { c.When = r.condition(e) },
		"ON_FAIL": func(e *entry) { c.OnFail, hasOnFail = readOnFail(r, e), true },
		"SEVERITY": func(e *entry) {
			c.Severity = problem.Severity(r.choice(e, "error", "warning"))
			r.warnf(e.at(), problem.Style, "write WARN instead of REQUIRE for a warning", "the key SEVERITY is discouraged")
		},
	})
	if !hasOnFail {
		r.errorf(c.Position, problem.MissingKey, `write ON_FAIL: "message" on an indented line below`, "the constraint has no ON_FAIL")
	}
	r.doc.Constraints = append(r.doc.Constraints, c)
}

// readRuleCondition reads the condition of a constraint. readRuleCondition also reads the
// checkpoint that follows the condition.
func readRuleCondition(r *reader, text Text, c *Constraint) {
	x, rest, mistake := parsePrefix(text)
	if mistake != nil {
		r.report(*mistake)
		return
	}
	c.Condition = x
	if lit, ok := x.root.(*literal); ok && TypeOf(lit.value) == "string" {
		r.errorf(x.Position(), problem.Syntax, "write the condition without quotes", "the condition is quoted text, which is always true")
	}
	if b, ok := x.root.(*binary); c.Rule == RuleLimit && (!ok || !slices.Contains([]string{opLess, opLessEq, opGreater, opGreaterEq}, b.op)) {
		r.warnf(x.Position(), problem.Style, "write REQUIRE", "the condition of LIMIT does not compare numbers")
	}
	if rest >= len(text.Value) {
		return
	}
	if !strings.EqualFold(word(text.Value[rest:]), "BEFORE") {
		r.report(*unexpected(text, rest))
		return
	}
	target := strings.Fields(text.Value[rest+len("BEFORE"):])
	at := text.at(rest)
	switch {
	case len(target) == 2 && strings.EqualFold(target[0], "calling"):
		c.Before = "calling"
		c.Tool = r.nameOf(Text{Position: text.at(len(text.Value) - len(target[1])), Value: target[1]}, "a tool")
	case len(target) == 2 && strings.EqualFold(target[0], "returning") && strings.EqualFold(target[1], "results"):
		c.Before = "returning"
	default:
		c.inert = true
		r.warnf(at, problem.NoEffect, "write `WHEN: condition`, `BEFORE calling TOOL` or `BEFORE returning results`",
			"BEFORE %s is not a checkpoint; the constraint has no effect", strings.Join(target, " "))
	}
}

// readOnFail reads the property ON_FAIL of a constraint. The value is a message, ESCALATE, BLOCK,
// an indented block, or HANDOFF followed by the name of an agent.
func readOnFail(r *reader, e *entry) OnFail {
	f := OnFail{Position: e.at()}
	v := e.value
	fields := strings.Fields(v.Value)
	switch {
	case v.Value == "" && len(e.children) > 0:
		readOnFailBlock(r, e, &f)
		return f
	case e.block, isQuoted(v), len(fields) == 0:
		f.Respond = r.template(e)
	case len(fields) == 2 && fields[0] == "HANDOFF":
		f.Handoff = r.nameOf(Text{Position: v.at(len(v.Value) - len(fields[1])), Value: fields[1]}, "an agent")
	case v.Value == "ESCALATE":
		f.Escalate = true
	case v.Value == "BLOCK":
		f.Block = true
	case fields[0] == "HANDOFF" || fields[0] == "GOTO":
		r.errorf(v.Position, problem.BadValue, "write `HANDOFF Agent_Name`, or write `GOTO: step` on an indented line below", "the text %s is not a failure action", problem.Quote(v.Value))
	default:
		r.warnf(v.Position, problem.Style, "put the message in quotes", "the message %s has no quotes", problem.Quote(v.Value))
		f.Respond = r.template(e)
	}
	r.leaf(e)
	return f
}

func readOnFailBlock(r *reader, e *entry, f *OnFail) {
	r.read(e, "ON_FAIL", properties{
		"RESPOND":  func(e *entry) { f.Respond = r.template(e) },
		"COLLECT":  func(e *entry) { f.Collect = r.nameList(e, "COLLECT") },
		"GOTO":     func(e *entry) { f.Goto = r.name(e, "a step") },
		"RETRY":    func(e *entry) { f.Retry = r.boolean(e) },
		"THEN":     func(e *entry) { f.Then = r.choice(e, "continue", "retry") },
		"HANDOFF":  func(e *entry) { f.Handoff = r.name(e, "an agent") },
		"ESCALATE": func(e *entry) { f.Escalate = r.boolean(e) },
		"BLOCK":    func(e *entry) { f.Block = r.boolean(e) },
	})
}
