package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// unitShift is the binary logarithm of the amount of work for one unit of fuel. Work is counted in
// instructions, or in bytes for instructions that move memory.
const unitShift = 6

// smallLeaf is the maximum size of a small leaf function. The size is the number of instructions
// outside of loops. The entry of a small leaf function is not charged, because the callers pay for
// these instructions.
const smallLeaf = 32

// goCallSize is the size, in instructions, of an instruction that calls Go code. goCallSize exceeds
// smallLeaf.
const goCallSize = 256

// region is the part of a function that belongs directly to one loop, or is outside of all loops.
type region struct {
	// parent is the index of the enclosing region.
	parent int
	// size is the number of instructions. An instruction that is expensive counts as several
	// instructions.
	size int
	// params reports whether the region is a loop with parameters. If a loop has parameters, the
	// inserted code cannot repeat an iteration of the loop, because the code is inside a block.
	params bool
	// shared reports whether other code changes the fuel while the region runs. The other code is a
	// called function, or an inner loop that updates the global.
	shared bool
}

// cost returns the fuel that an iteration costs. The cost is at least 1 and at most Slice, the
// minimum amount that the function "yield" returns.
func (s region) cost() int64 { return min(1+int64(s.size>>unitShift), Slice) }

// paidByCaller reports whether the caller of the function pays for the region. paidByCaller may be
// called only for the region outside of loops.
func (s region) paidByCaller() bool { return !s.shared && s.size <= smallLeaf }

// regionsOf returns the regions of a function. The first region contains the code outside of loops,
// and each other region is a loop.
func (r *rewriter) regionsOf(code []byte) []region {
	all := []region{{}}
	open := []int{0} // the region of each open block
	for in := range binary.Instructions(code) {
		current := open[len(open)-1]
		all[current].size += r.size(in)
		switch in.Op {
		case binary.Loop:
			open = append(open, len(all))
			params := in.Index != binary.NoType && len(r.m.Types[in.Index].Params) > 0
			all = append(all, region{parent: current, params: params, shared: params})
		case binary.Block, binary.If:
			open = append(open, current)
		case binary.End:
			open = open[:len(open)-1]
		default:
			if changesFuel(in.Op) {
				all[current].shared = true
			}
		}
	}
	for i := len(all) - 1; i > 0; i-- {
		if all[i].shared {
			all[all[i].parent].shared = true
		}
	}
	return all
}

// size returns the size of an instruction. The entry of a small leaf function is not charged.
// Instead of the entry, each call of the function is charged with the size of the function. The
// target of an indirect call is unknown, so the size of an indirect call always includes the
// largest small leaf.
func (r *rewriter) size(in binary.Instruction) int {
	switch in.Op {
	case binary.RefFunc:
		return goCallSize
	case binary.CallIndirect:
		return 1 + smallLeaf
	case binary.Call:
		if in.Index < r.yield {
			return goCallSize
		}
		return 1 + int(r.leaves[in.Index-r.yield])
	}
	return 1
}

// changesFuel reports whether other code may change the fuel during an instruction.
func changesFuel(op binary.Op) bool {
	switch op {
	case binary.Call, binary.CallIndirect, binary.MemoryFill, binary.MemoryCopy, binary.MemoryInit, binary.MemoryGrow,
		binary.TableFill, binary.TableCopy, binary.TableInit, binary.TableGrow:
		return true
	}
	return false
}

// measureLeaves returns, for each function that the module defines, the number of instructions that
// callers pay for.
func (r *rewriter) measureLeaves() []uint8 {
	sizes := make([]uint8, len(r.m.Functions))
	for i, f := range r.m.Functions {
		if callsNothing(f.Code) {
			if entry := r.regionsOf(f.Code)[0]; entry.paidByCaller() {
				sizes[i] = uint8(entry.size)
			}
		}
	}
	return sizes
}

// callsNothing reports whether a function is a leaf. The check is fast, because nearly all other
// functions contain a call near their start.
func callsNothing(code []byte) bool {
	for in := range binary.Instructions(code) {
		if changesFuel(in.Op) {
			return false
		}
	}
	return true
}
