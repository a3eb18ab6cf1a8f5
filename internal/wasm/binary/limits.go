package binary

// Limits bound what a module may hold. A zero field means the default that its comment names, never
// "no limit". The defaults let through what compilers emit, CPython included, with room to spare; they are
// there because a few bytes can ask a compiler for gigabytes.
type Limits struct {
	// ModuleBytes bounds the module. Default 32 MiB.
	ModuleBytes int
	// Types, Functions, Globals, Imports, Exports and Tables bound how many there are; imported ones count.
	// Defaults 20,000, 100,000, 20,000, 2,000, 20,000 and 32.
	Types, Functions, Globals, Imports, Exports, Tables int
	// DataSegments and ElementSegments bound the segments, Elements the entries of all element segments.
	// Defaults 100,000, 10,000 and 500,000.
	DataSegments, ElementSegments, Elements int
	// Params and Results bound one function type. Defaults 256 and 64.
	Params, Results int
	// BodyBytes bounds the code of one function. Default 1 MiB; CPython's longest function has a tenth of it.
	BodyBytes int
	// Locals bounds the parameters and locals of one function, AllLocals those of all functions, as declared:
	// five bytes can declare four billion. Defaults 10,000 and 1,000,000.
	Locals, AllLocals int
	// Nesting bounds blocks within blocks, Blocks the blocks of one function. Default 10,000 for both; a switch of a
	// thousand cases makes a thousand of either, and the time to compile grows with the square.
	Nesting, Blocks int
	// LoopNesting bounds loops within loops, Loops those of one function. Defaults 200 and 2,000; the time to compile
	// grows with more than the square of either.
	LoopNesting, Loops int
	// SquaredBlocks bounds the blocks of a function, loops counted twice, squared and added up over all functions. Each
	// byte of code allows SquaredBlocksPerByte more. Default 50,000,000; for each byte esbuild has 11, CPython 3.
	SquaredBlocks int
	// LocalsTimesBlocks bounds the locals of one function times its blocks, for a compiler may follow each local through each
	// block. Default 500,000; the most that was seen is 104,000, in CPython.
	LocalsTimesBlocks int
	// BranchTargets bounds the targets of one br_table, AllBranchTargets those of all; every BytesPerBranchTarget bytes of
	// code allow one more of all. Defaults 32,768 and 50,000; the most that was seen in a function is 5,491, in
	// esbuild, which has one for 35 bytes.
	BranchTargets, AllBranchTargets int
	// PassedValues bounds the values that the blocks, branches and calls of one function pass on, counted at each, and
	// AllPassedValues those of all functions. With each call go the mutable globals, which it may change; so do they
	// where package fuel adds a call: with each function, loop, and instruction that moves or grows memory or a table.
	// One byte can carry as many values as a block has results. Defaults 1,000,000 and 20,000,000.
	PassedValues, AllPassedValues int
	// TableElements bounds the elements that all tables have at the start. Default 1,000,000.
	TableElements int
	// MemoryPages bounds the pages of 64 KiB that the memory has at the start. Default 1,024, which is 64 MiB.
	MemoryPages int
	// NameBytes bounds each name. Default 65,536.
	NameBytes int
}

// What the code of a module, as long as it is, allows beyond Limits: a large program may have more of what takes
// long to compile than a small one.
const (
	SquaredBlocksPerByte = 16
	BytesPerBranchTarget = 16
)

// WithDefaults returns l with every zero field set to its default.
func (l Limits) WithDefaults() Limits {
	for _, field := range []struct {
		value    *int
		standard int
	}{
		{&l.ModuleBytes, 32 << 20},
		{&l.Types, 20_000},
		{&l.Functions, 100_000},
		{&l.Globals, 20_000},
		{&l.Imports, 2_000},
		{&l.Exports, 20_000},
		{&l.Tables, 32},
		{&l.DataSegments, 100_000},
		{&l.ElementSegments, 10_000},
		{&l.Elements, 500_000},
		{&l.Params, 256},
		{&l.Results, 64},
		{&l.BodyBytes, 1 << 20},
		{&l.Locals, 10_000},
		{&l.AllLocals, 1_000_000},
		{&l.Nesting, 10_000},
		{&l.Blocks, 10_000},
		{&l.LoopNesting, 200},
		{&l.Loops, 2_000},
		{&l.SquaredBlocks, 50_000_000},
		{&l.LocalsTimesBlocks, 500_000},
		{&l.BranchTargets, 32_768},
		{&l.AllBranchTargets, 50_000},
		{&l.PassedValues, 1_000_000},
		{&l.AllPassedValues, 20_000_000},
		{&l.TableElements, 1_000_000},
		{&l.MemoryPages, 1_024},
		{&l.NameBytes, 65_536},
	} {
		if *field.value == 0 {
			*field.value = field.standard
		}
	}
	return l
}
