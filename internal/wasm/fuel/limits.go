package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// maxGrowth is an upper limit on the factor by which code grows. A loop of three bytes grows by
// about fifty bytes.
const maxGrowth = 32

// Limits returns the limits for parsing the rewritten module. If a module is within the limits l,
// its rewritten form is within the returned limits. The names in Options may have up to 64 KiB.
func Limits(l binary.Limits) binary.Limits {
	l = l.WithDefaults()
	// The limits of code are computed first, because they depend on the original values of other
	// limits.
	l.PassedValues += 4*l.BodyBytes + l.Globals + 4
	l.AllPassedValues += 4*l.ModuleBytes + l.Globals + 4
	l.SquaredBlocks = 4 * (l.SquaredBlocks + binary.SquaredBlocksPerByte*l.ModuleBytes)
	l.AllBranchTargets += l.ModuleBytes / binary.BytesPerBranchTarget // Rewrite shortens padded indexes
	l.LocalsTimesBlocks = 2*l.LocalsTimesBlocks + 2*(l.Blocks+1)
	l.AllLocals += l.Functions + 1
	l.ModuleBytes = maxGrowth*l.ModuleBytes + 1<<20
	l.BodyBytes = maxGrowth * (l.BodyBytes + 4)
	l.Blocks = 2*l.Blocks + 1
	l.Nesting++
	l.Locals++
	l.Types += 2
	l.Functions += 2
	l.Imports++
	l.Globals++
	l.Params = max(l.Params, 1)
	l.Results = max(l.Results, 1)
	l.NameBytes = max(l.NameBytes, 65_536)
	return l
}
