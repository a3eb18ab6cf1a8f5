package abl

import (
	"slices"

	"github.com/toolrun/toolrun/host/problem"
)

// computed warns about a constraint that fails again after its COLLECT. Such a constraint reads a
// variable that a step computes from a field, and its COLLECT collects only the field. After
// COLLECT, the variable still has the value that was computed from the old field.
func (c checker) computed() {
	for i := range c.d.Constraints {
		rule := &c.d.Constraints[i]
		if f := rule.OnFail; len(f.Collect) == 0 || f.Goto.Value != "" || f.Retry || f.Then == "continue" || rule.Condition == nil {
			continue
		}
		for _, ref := range rule.Condition.References() {
			if c.computedFrom(rule.OnFail.Collect, ref.Path[0]) {
				break
			}
		}
	}
}

// computedFrom warns if a step computes a variable from one of the collected fields. If the
// variable itself is one of the collected fields, the check does not warn.
func (c checker) computedFrom(fields []Name, variable string) bool {
	isField := func(name string) bool {
		return slices.ContainsFunc(fields, func(f Name) bool { return firstName(f.Value) == name })
	}
	if isField(variable) {
		return false
	}
	for i := range c.d.Flow.Steps {
		step := &c.d.Flow.Steps[i]
		field := ""
		visitor{set: func(a Assignment) {
			if firstName(a.Target.Value) != variable || a.Value == nil {
				return
			}
			for _, ref := range a.Value.References() {
				if isField(ref.Path[0]) {
					field = ref.Path[0]
				}
			}
		}}.flowStep(step)
		if field != "" {
			c.r.warnf(fields[0].Position, problem.SuspiciousRule, "add GOTO: "+step.Value, "%s is computed from %s, but COLLECT changes %s without computing %s again", variable, field, field, variable)
			return true
		}
	}
	return false
}
