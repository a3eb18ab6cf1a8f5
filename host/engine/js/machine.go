package js

import (
	"path"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
)

// CheckMachine checks the JavaScript code of a machine: its syntax, and the steps, inputs and other
// names that it uses. The document must have no errors. The work is bounded by the size of the
// document. CheckMachine is safe for concurrent use.
func CheckMachine(d *machine.Document) machine.Problems {
	_, problems := compileMachine(d)
	return problems
}

// compileMachine translates a machine to a JavaScript module. If a problem is an error, there is no
// module.
func compileMachine(d *machine.Document) (*machineWriter, machine.Problems) {
	c := newMachineCompiler(d)
	w := &machineWriter{doc: d}
	for i := range d.Steps {
		c.step, c.known = &d.Steps[i], d.Steps[:i]
		c.writeStep(w)
	}
	c.checkTests()
	c.checkUnused()
	if problems := c.problems.Sorted(); problems.Err() != nil {
		return nil, problems
	}
	return w, c.problems.Sorted()
}

// translateMachine translates the source of a machine, and returns the positions in its module. It
// returns any other source unchanged.
func translateMachine(src engine.Source) (engine.Source, *machineWriter, error) {
	if path.Ext(src.Path) != machine.Extension {
		return src, nil, nil
	}
	doc, problems := machine.Parse(src.Path, src.Code)
	var w *machineWriter
	if problems.Err() == nil {
		if w, problems = compileMachine(doc); w != nil {
			src.Code, src.Files = []byte(w.module()), nil
			return src, w, nil
		}
	}
	return src, nil, machineFault(problems)
}

// machineFault returns the fault for the first error of a machine.
func machineFault(problems machine.Problems) error {
	for _, p := range problems {
		if p.Severity != machine.SeverityError {
			continue
		}
		f := abi.Faultf(abi.SourceInvalid, "%s", p.Message)
		f.File, f.Line, f.Column, f.Hint = p.File, p.Line, p.Column, p.Hint
		return f
	}
	return abi.Faultf(abi.SourceInvalid, "the machine cannot be compiled")
}
