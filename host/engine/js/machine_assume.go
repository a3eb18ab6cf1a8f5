package js

import (
	"slices"

	"github.com/toolrun/toolrun/host/machine"
)

// writeAssumed writes a step whose result the test assumes instead of executing the step. The
// assumed result is the value in the test. If there is none, it is the value in the step. For a
// step "recall" without such a value, it is an empty list. The settings of the step are always
// evaluated. If the test executes the step, writeAssumed writes nothing and returns false.
func writeAssumed(c *machineCompiler, w *machineWriter) bool {
	s := c.step
	name := s.Name.Value
	inTest := slices.ContainsFunc(w.test.Assuming, func(a machine.Setting) bool { return a.Value == name })
	if !inTest && s.Kind != machine.Recall && (s.Kind != machine.Ask || len(s.Assuming) == 0) {
		return false
	}
	if s.Kind == machine.Compute {
		c.body(s.Body) // the module contains the code, but does not execute it
	} else {
		w.write("void ({")
		writeSettings(c, w)
		w.write("}); ")
	}
	switch {
	case inTest:
		w.write("steps.%s = $assume_%[1]s();", name)
	case s.Kind == machine.Recall:
		w.write("steps.%s = {results: [], count: 0};", name)
	default:
		w.write("steps.%s = {", name)
		for _, a := range s.Assuming {
			writeSetting(c, w, a)
		}
		w.write("};")
	}
	return true
}

// writeMachineTest writes the values of a test as functions. JavaScript hoists functions, so code
// can call them before their definitions.
func writeMachineTest(c *machineCompiler, w *machineWriter) {
	t := w.test
	if t == nil {
		return
	}
	parts := []machine.Setting{{Name: machine.Name{Value: "$given"}, Script: t.Given}, {Name: machine.Name{Value: "$expect"}, Script: t.Expect}}
	for _, a := range t.Assuming {
		parts = append(parts, machine.Setting{Name: machine.Name{Value: "$assume_" + a.Value}, Script: a.Script})
	}
	slices.SortFunc(parts, func(a, b machine.Setting) int { return a.Script.Offset - b.Script.Offset })
	c.step, c.known = nil, nil
	for _, p := range parts {
		w.write(" function %s() { return (", p.Value)
		if p.Script.Text == "" {
			w.raw("{}")
		} else {
			code, inserted := c.expression(p.Script)
			w.place(p.Script.Position, code, inserted...)
		}
		w.raw("); }")
	}
}
