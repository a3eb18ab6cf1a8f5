package binary

// controlFlow checks the blocks, branches and calls of functions. controlFlow also limits the work
// that a compiler needs for these functions.
type controlFlow struct {
	*moduleReader
	// codeBytes is the size of the code section.
	codeBytes int
	// mutableGlobals is the number of mutable globals in the module.
	mutableGlobals int
	// The following fields are sums over all functions: squaredBlocks is the sum of the squared
	// numbers of blocks, targets is the number of br_table targets, and allPassed is the number of
	// passed values.
	squaredBlocks, targets, allPassed int

	// labels is the stack of open blocks in the current function.
	labels []label
	// blocks and loops are the numbers of blocks and loops in the current function. openLoops is
	// the number of loops in labels.
	blocks, loops, openLoops int
	// passed is the number of values that the blocks, branches and calls of the current function
	// pass on.
	passed int
}

// label is an open block. The field "branch" is the number of values that a branch to the block
// passes on. The field "end" is the number of values that the end of the block passes on.
type label struct {
	op          Op
	branch, end int
}

// begin starts a function of type t.
func (c *controlFlow) begin(t FuncType) {
	c.labels = append(c.labels[:0], label{op: Block, branch: len(t.Results), end: len(t.Results)})
	c.blocks, c.loops, c.openLoops, c.passed = 1, 0, 0, c.mutableGlobals
}

// instruction processes an instruction that may open or close a block. instruction also counts the
// values that the instruction passes on.
func (c *controlFlow) instruction(in Instruction) {
	if c.err != nil {
		return
	}
	top := &c.labels[len(c.labels)-1]
	switch in.Op {
	case Block, Loop, If:
		c.open(in)
	case Else:
		if top.op != If {
			c.reject(Malformed, in.Offset, "an else without an if")
			return
		}
		top.op = Else
		c.passed += top.end
	case End:
		c.passed += top.end
		if top.op == Loop {
			c.openLoops--
		}
		c.labels = c.labels[:len(c.labels)-1]
	case BrTable:
		c.branchTable(in)
	case Br, BrIf:
		c.passed += c.labels[len(c.labels)-1-int(in.Index)].branch
	case Return:
		c.passed += c.labels[0].end
	case Call:
		c.call(c.m.FuncType(in.Index))
	case CallIndirect:
		c.call(c.m.Types[in.Index])
	case MemoryFill, MemoryCopy, MemoryInit, MemoryGrow, TableFill, TableCopy, TableInit, TableGrow:
		c.passed += c.mutableGlobals
	}
	if c.err == nil && c.passed > c.lim.PassedValues {
		c.reject(OverLimit, in.Offset, "the blocks, branches and calls of a function pass more than %d values", c.lim.PassedValues)
	}
}

func (c *controlFlow) call(t FuncType) {
	c.passed += len(t.Params) + len(t.Results) + c.mutableGlobals
}

func (c *controlFlow) open(in Instruction) {
	if len(c.labels) > c.lim.Nesting {
		c.reject(OverLimit, in.Offset, "blocks are nested deeper than %d levels", c.lim.Nesting)
		return
	}
	if c.blocks++; c.blocks > c.lim.Blocks+1 { // the body of the function is the outermost block
		c.reject(OverLimit, in.Offset, "a function has more than %d blocks", c.lim.Blocks)
		return
	}
	var t FuncType
	results := 0
	switch {
	case in.Index != NoType && uint64(in.Index) >= uint64(len(c.m.Types)):
		c.reject(Malformed, in.Offset, "the type index %d of a block is out of range (count %d)", in.Index, len(c.m.Types))
		return
	case in.Index != NoType:
		t = c.m.Types[in.Index]
		results = len(t.Results)
	case in.result != 0:
		results = 1
	}
	c.passed += len(t.Params) + results
	l := label{op: in.Op, branch: results, end: results}
	if in.Op == Loop {
		l.branch = len(t.Params)
		c.openLoop(in)
	}
	c.labels = append(c.labels, l)
}

func (c *controlFlow) openLoop(in Instruction) {
	c.passed += c.mutableGlobals
	if c.loops++; c.loops > c.lim.Loops {
		c.reject(OverLimit, in.Offset, "a function has more than %d loops", c.lim.Loops)
	}
	if c.openLoops++; c.openLoops > c.lim.LoopNesting {
		c.reject(OverLimit, in.Offset, "loops are nested deeper than %d levels", c.lim.LoopNesting)
	}
}

// branchTable reads the targets of a br_table again to check the targets against the labels.
func (c *controlFlow) branchTable(in Instruction) {
	c.targets += in.Count + 1
	if limit := c.lim.AllBranchTargets + c.codeBytes/BytesPerBranchTarget; c.targets > limit {
		c.reject(OverLimit, in.Offset, "the br_table instructions of all functions have more than %d targets in total", limit)
		return
	}
	r := reader{wasm: c.wasm, at: in.immediates, end: in.End}
	r.u32()
	for range in.Count + 1 {
		target := r.u32()
		if uint64(target) >= uint64(len(c.labels)) {
			c.reject(Malformed, in.Offset, "the label %d of a br_table is out of range (count %d)", target, len(c.labels))
			return
		}
		c.passed += 1 + c.labels[len(c.labels)-1-int(target)].branch
	}
}

// finish checks the limits that apply to a whole function. The function begins at start.
func (c *controlFlow) finish(start, locals int) {
	if product := c.blocks * locals; product > c.lim.LocalsTimesBlocks {
		c.reject(OverLimit, start, "a function has %d blocks and %d locals; the limit for their product is %d", c.blocks, locals, c.lim.LocalsTimesBlocks)
	}
	if c.allPassed += c.passed; c.allPassed > c.lim.AllPassedValues {
		c.reject(OverLimit, start, "the blocks, branches and calls of all functions pass more than %d values", c.lim.AllPassedValues)
	}
	// Loops count twice, because they take longer to compile and package fuel adds a block to each
	// loop.
	n := c.blocks + c.loops
	c.squaredBlocks += n * n
	if limit := c.lim.SquaredBlocks + SquaredBlocksPerByte*c.codeBytes; c.squaredBlocks > limit {
		c.reject(OverLimit, start, "the functions have too many blocks: the squares of their block counts add up to %d; the limit is %d", c.squaredBlocks, limit)
	}
}
