package binary

// Limits are the maximum size and complexity of a module. The Limits exist because a few bytes of a
// module can make a compiler allocate gigabytes. If a field is zero, its default applies; zero
// never means "unlimited". The defaults accept the output of common compilers by a wide margin,
// including CPython.
type Limits struct {
	// ModuleBytes is the maximum size of the module. The default is 32 MiB.
	ModuleBytes int
	// Types, Functions, Globals, Imports, Exports and Tables are the maximum numbers of these
	// items, including imported ones. The defaults of Types, Functions, Globals, Imports, Exports
	// and Tables are 20,000, 100,000, 20,000, 2,000, 20,000 and 32.
	Types, Functions, Globals, Imports, Exports, Tables int
	// DataSegments and ElementSegments are the maximum numbers of segments. Elements is the maximum
	// number of entries in all element segments. The defaults of DataSegments, ElementSegments and
	// Elements are 100,000, 10,000 and 500,000.
	DataSegments, ElementSegments, Elements int
	// Params and Results are the maximum numbers of parameters and results of a function type. The
	// defaults are 256 and 64.
	Params, Results int
	// BodyBytes is the maximum size of the code of a function. The default is 1 MiB, ten times the
	// size of CPython's longest function.
	BodyBytes int
	// Locals is the maximum number of declared locals of a function, including parameters.
	// AllLocals is the maximum number of declared locals of all functions together. Locals and
	// AllLocals exist because five bytes can declare four billion locals. Locals has the default
	// 10,000, and AllLocals the default 1,000,000.
	Locals, AllLocals int
	// Nesting is the maximum depth of nested blocks. Blocks is the maximum number of blocks in a
	// function. Nesting and Blocks default to 10,000. A switch statement with a thousand cases
	// needs a thousand nested blocks. Compile time grows with the square of the depth and of the
	// number of blocks.
	Nesting, Blocks int
	// LoopNesting is the maximum depth of nested loops. Loops is the maximum number of loops in a
	// function. LoopNesting has the default 200, and Loops the default 2,000. Compile time grows
	// faster than the square of the depth and of the number of loops.
	LoopNesting, Loops int
	// SquaredBlocks is the maximum sum of the squared numbers of blocks in all functions. In the
	// sum, each loop counts as two blocks. The maximum increases by SquaredBlocksPerByte for each
	// byte of code. The default is 50,000,000. For each byte of code, the sum is 11 in esbuild and
	// 3 in CPython.
	SquaredBlocks int
	// LocalsTimesBlocks is the maximum product of the numbers of locals and blocks in a function.
	// LocalsTimesBlocks exists because a compiler may track each local through each block. The
	// default is 500,000. The highest known product is 104,000, in CPython.
	LocalsTimesBlocks int
	// BranchTargets is the maximum number of targets of a br_table. AllBranchTargets is the maximum
	// number of targets of all br_tables together. AllBranchTargets increases by one for every
	// BytesPerBranchTarget bytes of code. BranchTargets has the default 32,768, and
	// AllBranchTargets the default 50,000. The largest known br_table has 5,491 targets, in
	// esbuild. In total, esbuild has one branch target per 35 bytes of code.
	BranchTargets, AllBranchTargets int
	// PassedValues is the maximum number of values that the blocks, branches and calls of a
	// function pass on. A value counts each time it is passed on. AllPassedValues is the maximum
	// number of values that all functions together pass on. Each call also passes on all mutable
	// globals, because the called function may change them. The calls that package fuel adds also
	// count: one call for each function, for each loop, and for each instruction that moves or
	// grows memory or a table. The limits on passed values are necessary because a single-byte
	// instruction, such as end, can pass on all results of a block. PassedValues has the default
	// 1,000,000, and AllPassedValues the default 20,000,000.
	PassedValues, AllPassedValues int
	// TableElements is the maximum total number of initial elements in all tables. The default is
	// 1,000,000.
	TableElements int
	// MemoryPages is the maximum initial size of the memory in pages of 64 KiB. The default of
	// MemoryPages is 1,024, which is 64 MiB.
	MemoryPages int
	// NameBytes is the maximum length of a name in bytes. The default is 65,536.
	NameBytes int
}

// Large programs contain more code that is slow to compile. The following constants therefore
// increase limits with the size of the code.
const (
	SquaredBlocksPerByte = 16
	BytesPerBranchTarget = 16
)

// WithDefaults returns a copy of l in which fields that are zero have their defaults.
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
