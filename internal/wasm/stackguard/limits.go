package stackguard

import "github.com/toolrun/toolrun/internal/wasm/binary"

const (
	// growth is more than by how much code can grow: an instruction of two bytes gets a check of less than twenty.
	growth = 12
	// checks is for how many in one function there is room: compilers move the stack pointer once, and once more for
	// each array of variable length.
	checks = 1000
)

// Limits returns limits for a second Parse: a module that kept l before keeps them after Rewrite, unless it has a function
// that moves the stack pointer down more than a thousand times.
func Limits(l binary.Limits) binary.Limits {
	l = l.WithDefaults()
	l.PassedValues += l.BodyBytes // with each call goes one more global
	l.AllPassedValues += l.ModuleBytes
	l.SquaredBlocks = 4 * (l.SquaredBlocks + binary.SquaredBlocksPerByte*l.ModuleBytes)
	l.LocalsTimesBlocks += checks * l.Locals
	l.Blocks += checks
	l.ModuleBytes *= growth
	l.BodyBytes *= growth
	l.Nesting++
	l.Globals++
	return l
}
