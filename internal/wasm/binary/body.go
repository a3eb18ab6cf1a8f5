package binary

// label is a block that has begun: what a branch to it and what its end carry.
type label struct {
	op          Op
	branch, end int
}

func (p *parser) code() {
	start := p.at
	n := p.count("function bodies", p.lim.Functions)
	if n != len(p.declared) {
		p.refuse(Malformed, start, "%d functions are declared, but %d have code", len(p.declared), n)
		return
	}
	p.m.Functions = make([]Function, 0, n)
	sectionEnd := p.end
	p.codeBytes = p.left()
	for i := range n {
		start := p.at
		size := p.u32()
		switch {
		case p.err != nil:
			return
		case uint64(size) > uint64(p.left()):
			p.refuse(Malformed, start, "a function body of %d bytes announced, but only %d are left", size, p.left())
			return
		case uint64(size) > uint64(p.lim.BodyBytes):
			p.refuse(OverLimit, start, "a function of %d bytes; at most %d are allowed", size, p.lim.BodyBytes)
			return
		}
		f := Function{Type: p.declared[i], Offset: p.at, Body: p.wasm[p.at : p.at+int(size)]}
		p.end = p.at + int(size)
		f.Locals = p.declaredLocals(p.m.Types[f.Type])
		f.Code = p.wasm[p.at:p.end]
		p.instructions(p.m.Types[f.Type], f.Locals)
		if p.err != nil {
			return
		}
		p.end = sectionEnd
		p.m.Functions = append(p.m.Functions, f)
	}
}

// declaredLocals reads the declarations of locals and returns how many there are, parameters counted.
func (p *parser) declaredLocals(t FuncType) int {
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
		p.refuse(OverLimit, start, "a function of %d locals, parameters counted; at most %d are allowed", all, p.lim.Locals)
		return 0
	}
	if p.locals += int(all); p.locals > p.lim.AllLocals {
		p.refuse(OverLimit, start, "more than %d locals in all functions", p.lim.AllLocals)
		return 0
	}
	return int(all)
}

// instructions walks the code of one function. It checks that blocks nest and that whatever an instruction
// names exists.
func (p *parser) instructions(t FuncType, locals int) {
	start := p.at
	p.labels = append(p.labels[:0], label{op: Block, branch: len(t.Results), end: len(t.Results)})
	p.blocks, p.loops, p.allLoops, p.carried = 1, 0, 0, p.mutable
	for len(p.labels) > 0 {
		in := p.instruction(p.lim.BranchTargets)
		if p.err != nil {
			return
		}
		p.indexes(in, locals)
		if p.nest(in); p.err != nil {
			return
		}
		if p.carried > p.lim.PassedValues {
			p.refuse(OverLimit, in.Offset, "the blocks, branches and calls of a function carry more than %d values", p.lim.PassedValues)
		}
	}
	if p.left() != 0 {
		p.refuse(Malformed, p.at, "%d bytes after the end of a function", p.left())
	}
	if spread := p.blocks * locals; spread > p.lim.LocalsTimesBlocks {
		p.refuse(OverLimit, start, "a function with %d blocks and %d locals; the product may be %d at most", p.blocks, locals, p.lim.LocalsTimesBlocks)
	}
	if p.allCarried += p.carried; p.allCarried > p.lim.AllPassedValues {
		p.refuse(OverLimit, start, "the blocks, branches and calls of all functions carry more than %d values", p.lim.AllPassedValues)
	}
	p.tangle(start)
}

// tangle adds the function to what a compiler may need the square of: the blocks, among which loops count twice,
// for they take longer and package fuel puts a block into each.
func (p *parser) tangle(start int) {
	n := p.blocks + p.allLoops
	p.squares += n * n
	if most := p.lim.SquaredBlocks + SquaredBlocksPerByte*p.codeBytes; p.squares > most {
		p.refuse(OverLimit, start, "the blocks of all functions, squared, loops counted twice, are %d; at most %d are allowed", p.squares, most)
	}
}

// indexes checks the indexes of an instruction.
func (p *parser) indexes(in Instruction, locals int) {
	switch in.imm {
	case funcIndex:
		p.exists(in.Index, "function", len(p.m.Funcs), in)
	case localIndex:
		p.exists(in.Index, "local", locals, in)
	case globalIndex:
		p.exists(in.Index, "global", len(p.m.GlobalTypes), in)
	case labelIndex:
		p.exists(in.Index, "label", len(p.labels), in)
	case tableIndex:
		p.exists(in.Index, "table", len(p.m.Tables), in)
	case typeTable:
		p.exists(in.Index, "type", len(p.m.Types), in)
		p.exists(in.Second, "table", len(p.m.Tables), in)
	case dataMemory, dataIndex:
		p.exists(in.Index, "data segment", max(p.m.DataCount, 0), in)
	case elemIndex:
		p.exists(in.Index, "element segment", p.m.Elements, in)
	case elemTable:
		p.exists(in.Index, "element segment", p.m.Elements, in)
		p.exists(in.Second, "table", len(p.m.Tables), in)
	case twoTables:
		p.exists(in.Index, "table", len(p.m.Tables), in)
		p.exists(in.Second, "table", len(p.m.Tables), in)
	}
}

func (p *parser) exists(index uint32, what string, count int, in Instruction) {
	if uint64(index) >= uint64(count) {
		p.refuse(Malformed, in.Offset, "an instruction names %s %d; there are %d", what, index, count)
	}
}

// nest follows blocks, and counts the values that they and the branches and calls pass on.
func (p *parser) nest(in Instruction) {
	if p.err != nil {
		return
	}
	top := &p.labels[len(p.labels)-1]
	switch in.Op {
	case Block, Loop, If:
		p.open(in)
	case Else:
		if top.op != If {
			p.refuse(Malformed, in.Offset, "an else without its if")
			return
		}
		top.op = Else
		p.carried += top.end
	case End:
		p.carried += top.end
		if top.op == Loop {
			p.loops--
		}
		p.labels = p.labels[:len(p.labels)-1]
	case BrTable:
		p.branchTable(in)
	case Br, BrIf:
		p.carried += p.labels[len(p.labels)-1-int(in.Index)].branch
	case Return:
		p.carried += p.labels[0].end
	case Call:
		p.carry(p.m.FuncType(in.Index))
	case CallIndirect:
		p.carry(p.m.Types[in.Index])
	case MemoryFill, MemoryCopy, MemoryInit, MemoryGrow, TableFill, TableCopy, TableInit, TableGrow:
		p.carried += p.mutable
	}
}

func (p *parser) carry(t FuncType) { p.carried += len(t.Params) + len(t.Results) + p.mutable }

func (p *parser) open(in Instruction) {
	if len(p.labels) > p.lim.Nesting {
		p.refuse(OverLimit, in.Offset, "blocks nested deeper than %d", p.lim.Nesting)
		return
	}
	if p.blocks++; p.blocks > p.lim.Blocks+1 { // the function itself is one
		p.refuse(OverLimit, in.Offset, "more than %d blocks in a function", p.lim.Blocks)
		return
	}
	var t FuncType
	results := 0
	switch {
	case in.Index != NoType && uint64(in.Index) >= uint64(len(p.m.Types)):
		p.refuse(Malformed, in.Offset, "a block of the unknown type %d; there are %d", in.Index, len(p.m.Types))
		return
	case in.Index != NoType:
		t = p.m.Types[in.Index]
		results = len(t.Results)
	case in.result != 0:
		results = 1
	}
	p.carried += len(t.Params) + results
	l := label{op: in.Op, branch: results, end: results}
	if in.Op == Loop {
		l.branch = len(t.Params)
		p.carried += p.mutable
		if p.allLoops++; p.allLoops > p.lim.Loops {
			p.refuse(OverLimit, in.Offset, "more than %d loops in a function", p.lim.Loops)
		}
		if p.loops++; p.loops > p.lim.LoopNesting {
			p.refuse(OverLimit, in.Offset, "loops nested deeper than %d", p.lim.LoopNesting)
		}
	}
	p.labels = append(p.labels, l)
}

// branchTable checks the targets of a br_table, which are read once more for it.
func (p *parser) branchTable(in Instruction) {
	p.targets += in.Count + 1
	if most := p.lim.AllBranchTargets + p.codeBytes/BytesPerBranchTarget; p.targets > most {
		p.refuse(OverLimit, in.Offset, "more than %d targets of br_tables in all functions", most)
		return
	}
	r := reader{wasm: p.wasm, at: in.after, end: in.End}
	r.u32()
	for range in.Count + 1 {
		target := r.u32()
		if uint64(target) >= uint64(len(p.labels)) {
			p.refuse(Malformed, in.Offset, "a br_table names label %d; there are %d", target, len(p.labels))
			return
		}
		p.carried += 1 + p.labels[len(p.labels)-1-int(target)].branch
	}
}
