package binary

// Limits bound the size and complexity of a module. A zero field means the default, never "no
// limit". The defaults accept what compilers emit, CPython included, with room to spare. They exist
// because a few bytes can make a compiler allocate gigabytes.
type Limits struct {
	// ModuleBytes bounds the module. Default 32 MiB.
	ModuleBytes int
	// Types, Functions, Globals, Imports, Exports and Tables bound their numbers, including
	// imported ones. Defaults 20,000, 100,000, 20,000, 2,000, 20,000 and 32.
	Types, Functions, Globals, Imports, Exports, Tables int
	// DataSegments and ElementSegments bound the segments; Elements bounds the entries of all
	// element segments. Defaults 100,000, 10,000 and 500,000.
	DataSegments, ElementSegments, Elements int
	// Params and Results bound one function type. Defaults 256 and 64.
	Params, Results int
	// BodyBytes bounds the code of one function. Default 1 MiB; CPython's longest function takes a
	// tenth of that.
	BodyBytes int
	// Locals bounds the declared locals of one function, including parameters; AllLocals bounds
	// their sum. Five bytes can declare four billion locals. Defaults 10,000 and 1,000,000.
	Locals, AllLocals int
	// Nesting bounds the depth of blocks within blocks, Blocks the blocks of one function. Default
	// 10,000 for both. A switch with a thousand cases adds a thousand to each, and compile time
	// grows with the square.
	Nesting, Blocks int
	// LoopNesting bounds the depth of loops within loops, Loops the loops of one function. Defaults
	// 200 and 2,000. Compile time grows faster than the square of either.
	LoopNesting, Loops int
	// SquaredBlocks bounds the sum over all functions of the squared number of blocks, with loops
	// counted twice. Each byte of code allows SquaredBlocksPerByte more. Default 50,000,000;
	// esbuild has 11 per byte, CPython 3.
	SquaredBlocks int
	// LocalsTimesBlocks bounds the product of the locals and the blocks of one function, because a
	// compiler may track each local through each block. Default 500,000; the highest value seen is
	// 104,000, in CPython.
	LocalsTimesBlocks int
	// BranchTargets bounds the targets of one br_table, AllBranchTargets those of all. Every
	// BytesPerBranchTarget bytes of code allow one more target in all. Defaults 32,768 and 50,000;
	// the highest value seen in a function is 5,491, in esbuild, which has one target per 35 bytes.
	BranchTargets, AllBranchTargets int
	// PassedValues bounds the values that the blocks, branches and calls of one function pass on,
	// counted at each; AllPassedValues bounds their sum. Each call also passes on all mutable
	// globals, because it may change them. The same applies to the calls that package fuel adds:
	// one for each function, loop, and instruction that moves or grows memory or a table. A single
	// byte can pass on as many values as a block has results. Defaults 1,000,000 and 20,000,000.
	PassedValues, AllPassedValues int
	// TableElements bounds the initial elements of all tables. Default 1,000,000.
	TableElements int
	// MemoryPages bounds the initial size of the memory in pages of 64 KiB. Default 1,024, which is
	// 64 MiB.
	MemoryPages int
	// NameBytes bounds each name, in bytes. Default 65,536.
	NameBytes int
}

// These constants raise limits with the size of the code: a large program may contain more that is
// slow to compile than a small one.
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
