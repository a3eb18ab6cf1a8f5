package binary

// functionParser reads the function and code sections.
type functionParser struct {
	*moduleReader
	instructions instructionReader
	flow         controlFlow
	// declared contains the type index of each function that the module defines.
	declared []uint32
	// locals is the number of locals in all functions.
	locals int
}

func newFunctionParser(r *moduleReader) functionParser {
	return functionParser{moduleReader: r, instructions: instructionReader{&r.reader}, flow: controlFlow{moduleReader: r}}
}

// declarations reads the function section. The section contains only the types of functions.
func (p *functionParser) declarations() {
	start := p.at
	n := p.count("functions", p.lim.Functions)
	if all := n + len(p.m.Funcs); all > p.lim.Functions {
		p.reject(OverLimit, start, "the module has %d functions, including imported functions; the limit is %d", all, p.lim.Functions)
		return
	}
	p.declared = make([]uint32, n)
	for i := range p.declared {
		p.declared[i] = p.index("type", len(p.m.Types))
	}
	p.m.Funcs = append(p.m.Funcs, p.declared...)
}

// bodies reads the code section. mutableGlobals is the number of mutable globals in the module.
func (p *functionParser) bodies(mutableGlobals int) {
	start := p.at
	n := p.count("function bodies", p.lim.Functions)
	if n != len(p.declared) {
		p.reject(Malformed, start, "%d functions are declared, but %d have bodies", len(p.declared), n)
		return
	}
	p.m.Functions = make([]Function, 0, n)
	p.flow.codeBytes, p.flow.mutableGlobals = p.left(), mutableGlobals
	sectionEnd := p.end
	for _, t := range p.declared {
		f := p.body(t)
		if p.err != nil {
			return
		}
		p.end = sectionEnd
		p.m.Functions = append(p.m.Functions, f)
	}
}

// body reads a function body. When body returns, p.end is the end of the body.
func (p *functionParser) body(typeIndex uint32) Function {
	start := p.at
	size := p.u32()
	switch {
	case p.err != nil:
		return Function{}
	case uint64(size) > uint64(p.left()):
		p.reject(Malformed, start, "a function body declares %d bytes, but only %d bytes are left", size, p.left())
		return Function{}
	case uint64(size) > uint64(p.lim.BodyBytes):
		p.reject(OverLimit, start, "a function has %d bytes; the limit is %d", size, p.lim.BodyBytes)
		return Function{}
	}
	f := Function{Type: typeIndex, Offset: p.at, Body: p.wasm[p.at : p.at+int(size)]}
	p.end = p.at + int(size)
	t := p.m.Types[typeIndex]
	f.Locals = p.declaredLocals(t)
	f.Code = p.wasm[p.at:p.end]
	p.code(t, f.Locals)
	return f
}

// declaredLocals reads the declarations of locals. declaredLocals returns the number of locals
// including parameters.
func (p *functionParser) declaredLocals(t FuncType) int {
	start := p.at
	all := uint64(len(t.Params))
	for range p.count("declarations of locals", p.lim.Locals) {
		all += uint64(p.u32())
		p.valueType()
		if p.err != nil {
			return 0
		}
	}
	if all > uint64(p.lim.Locals) {
		p.reject(OverLimit, start, "a function has %d locals, including parameters; the limit is %d", all, p.lim.Locals)
		return 0
	}
	if p.locals += int(all); p.locals > p.lim.AllLocals {
		p.reject(OverLimit, start, "the functions have more than %d locals", p.lim.AllLocals)
		return 0
	}
	return int(all)
}

// code reads the instructions of a function. code checks that blocks are nested correctly and that
// every index is valid.
func (p *functionParser) code(t FuncType, locals int) {
	start := p.at
	p.flow.begin(t)
	for len(p.flow.labels) > 0 {
		in := p.instructions.next(p.lim.BranchTargets)
		if p.err != nil {
			return
		}
		p.checkIndexes(in, locals)
		if p.flow.instruction(in); p.err != nil {
			return
		}
	}
	if p.left() != 0 {
		p.reject(Malformed, p.at, "a function body has %d extra bytes at its end", p.left())
	}
	p.flow.finish(start, locals)
}

func (p *functionParser) checkIndexes(in Instruction, locals int) {
	switch in.imm {
	case funcIndex:
		p.checkIndex(in.Index, "function", len(p.m.Funcs), in)
	case localIndex:
		p.checkIndex(in.Index, "local", locals, in)
	case globalIndex:
		p.checkIndex(in.Index, "global", len(p.m.GlobalTypes), in)
	case labelIndex:
		p.checkIndex(in.Index, "label", len(p.flow.labels), in)
	case tableIndex:
		p.checkIndex(in.Index, "table", len(p.m.Tables), in)
	case typeTable:
		p.checkIndex(in.Index, "type", len(p.m.Types), in)
		p.checkIndex(in.Second, "table", len(p.m.Tables), in)
	case dataMemory, dataIndex:
		p.checkIndex(in.Index, "data segment", max(p.m.DataCount, 0), in)
	case elemIndex:
		p.checkIndex(in.Index, "element segment", p.m.Elements, in)
	case elemTable:
		p.checkIndex(in.Index, "element segment", p.m.Elements, in)
		p.checkIndex(in.Second, "table", len(p.m.Tables), in)
	case twoTables:
		p.checkIndex(in.Index, "table", len(p.m.Tables), in)
		p.checkIndex(in.Second, "table", len(p.m.Tables), in)
	}
}

func (p *functionParser) checkIndex(index uint32, what string, count int, in Instruction) {
	if uint64(index) >= uint64(count) {
		p.reject(Malformed, in.Offset, "the %s index %d of an instruction is out of range (count %d)", what, index, count)
	}
}
