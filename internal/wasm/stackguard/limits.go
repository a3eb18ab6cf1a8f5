package stackguard

import "github.com/toolrun/toolrun/internal/wasm/binary"

const (
	// maxGrowth is an upper bound of the factor by which code grows: an instruction of two bytes
	// gets a check of fewer than twenty.
	maxGrowth = 12
	// maxChecks is the number of checks per function that Limits allows for. Compilers move the
	// stack pointer once, and once more for each array of variable length.
	maxChecks = 1000
)

// Limits returns the limits for a second Parse: a module that is within l is within them after
// Rewrite, unless it has a function that moves the stack pointer down more than a thousand times.
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
