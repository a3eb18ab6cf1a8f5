package js

import (
	"path"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/problem"
)

// CheckMachine checks the JavaScript code in a machine. It checks the syntax of the code, and the
// steps, inputs and other names that the code uses. The document of the machine must not contain
// errors. The cost of the check is bounded by the size of this document. CheckMachine is safe for
// concurrent use.
func CheckMachine(d *machine.Document) problem.List {
	_, problems := compileMachine(d, nil)
	return problems
}

// compileMachine translates a machine. The result is a JavaScript module. If one of the problems is
// an error, the module is nil. If the argument "test" is not nil, the module executes this test.
func compileMachine(d *machine.Document, test *machine.Test) (*machineWriter, problem.List) {
	c := newMachineCompiler(d)
	w := &machineWriter{doc: d, test: test}
	first := len(d.Steps) == 0 || test != nil && test.Line < d.Steps[0].Line
	if first {
		writeMachineTest(c, w)
	}
	for i := range d.Steps {
		c.step, c.known = &d.Steps[i], d.Steps[:i]
		writeMachineStep(c, w)
	}
	if !first {
		writeMachineTest(c, w)
	}
	c.checkTests()
	c.checkUnused()
	if problems := c.problems.Sorted(); problems.Err() != nil {
		return nil, problems
	}
	return w, c.problems.Sorted()
}

// translateMachine translates a source that is a machine to a module, and returns the positions in
// the module. Any other source is returned unchanged.
func translateMachine(src engine.Source) (engine.Source, *machineWriter, error) {
	if path.Ext(src.Path) != machine.Extension {
		return src, nil, nil
	}
	doc, problems := machine.Parse(src.Path, src.Code)
	test, err := machineTest(doc, src.Entry)
	if err != nil {
		return src, nil, err
	}
	var w *machineWriter
	if problems.Err() == nil {
		if w, problems = compileMachine(doc, test); w != nil {
			src.Code, src.Files, src.Entry = []byte(w.module()), nil, ""
			return src, w, nil
		}
	}
	return src, nil, machineFault(problems)
}

// machineTest returns the test that the entry of a source selects. If the entry is empty,
// machineTest returns nil.
func machineTest(d *machine.Document, entry string) (*machine.Test, error) {
	if entry == "" {
		return nil, nil
	}
	for i := range d.Tests {
		if machine.TestEntry(i) == entry {
			return &d.Tests[i], nil
		}
	}
	return nil, abi.Faultf(abi.SourceInvalid, "the machine has no entry %q", cut(entry, maxNameBytes))
}

// machineFault returns the fault for the first error in a machine.
func machineFault(problems problem.List) error {
	for _, p := range problems {
		if p.Severity != problem.Error {
			continue
		}
		f := abi.Faultf(abi.SourceInvalid, "%s", p.Message)
		f.File, f.Line, f.Column, f.Hint = p.File, p.Line, p.Column, p.Hint
		return f
	}
	return abi.Faultf(abi.SourceInvalid, "the machine cannot be compiled")
}
