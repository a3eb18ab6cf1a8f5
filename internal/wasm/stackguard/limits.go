package stackguard

import "github.com/toolrun/toolrun/internal/wasm/binary"

const (
	// maxGrowth is an upper limit on the factor by which code grows. The check that Rewrite adds to
	// an instruction of two bytes has fewer than twenty bytes.
	maxGrowth = 12
	// maxChecks is the number of checks per function that Limits permits. Compilers emit code that
	// moves the stack pointer once per function, and once for each variable-length array.
	maxChecks = 1000
)

// Limits returns the limits for parsing the rewritten module. If a module is within l, its
// rewritten form is within the returned limits, unless a function moves the stack pointer down more
// than a thousand times.
func Limits(l binary.Limits) binary.Limits {
	l = l.WithDefaults()
	l.PassedValues += l.BodyBytes // each call passes on one more global
	l.AllPassedValues += l.ModuleBytes
	l.SquaredBlocks = 4 * (l.SquaredBlocks + binary.SquaredBlocksPerByte*l.ModuleBytes)
	l.LocalsTimesBlocks += maxChecks * l.Locals
	l.Blocks += maxChecks
	l.ModuleBytes *= maxGrowth
	l.BodyBytes *= maxGrowth
	l.Nesting++
	l.Globals++
	return l
}
