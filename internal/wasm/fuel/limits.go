package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// growth is more than by how much code can grow: a loop of three bytes gets some fifty.
const growth = 32

// Limits returns limits that a module keeps after Rewrite if it kept l before: they are for a second Parse. Names in
// Options may be 64 KiB long.
func Limits(l binary.Limits) binary.Limits {
	l = l.WithDefaults()
	// What has to do with code comes first, for it asks for limits as they were.
	l.PassedValues += 4*l.BodyBytes + l.Globals + 4
	l.AllPassedValues += 4*l.ModuleBytes + l.Globals + 4
	l.SquaredBlocks = 4 * (l.SquaredBlocks + binary.SquaredBlocksPerByte*l.ModuleBytes)
	l.AllBranchTargets += l.ModuleBytes / binary.BytesPerBranchTarget // padded indexes become shorter, and so may the code
	l.LocalsTimesBlocks = 2*l.LocalsTimesBlocks + 2*(l.Blocks+1)
	l.AllLocals += l.Functions + 1
	l.ModuleBytes = growth*l.ModuleBytes + 1<<20
	l.BodyBytes = growth * (l.BodyBytes + 4)
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
