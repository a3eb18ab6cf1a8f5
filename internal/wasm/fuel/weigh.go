package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// perUnit is how many instructions, or bytes moved by one instruction, cost a unit of fuel beyond the first:
// 1 << perUnit. So a long stretch of code without a loop is charged for, and a short one costs 1.
const perUnit = 6

// smallLeaf is how many instructions a function that calls nothing may have outside of its loops without being
// charged for its entry: its caller pays, whose call weighs as much as all of them.
const smallLeaf = 32

// goCall is what an instruction weighs that leaves the machine code for Go, in instructions. It is more than a
// small leaf may have.
const goCall = 256

// stretch is the part of a function that belongs to one loop, the loops in it left out, or to no loop at all.
type stretch struct {
	// parent is the stretch that it stands in.
	parent int
	// size is its instructions, dear ones counted as what they weigh.
	size int
	// params tells that it is a loop with parameters, whose turn cannot be taken anew from within a block.
	params bool
	// shared tells that others change the fuel while the stretch runs: what it calls, or a loop in it that
	// counts in the global.
	shared bool
}

// weight is what a turn costs: 1, and more for many instructions, but no more than a guest is sure to get.
func (s stretch) weight() int64 { return min(1+int64(s.size>>perUnit), Slice) }

// free tells of the stretch in no loop that its caller pays for it.
func (s stretch) free() bool { return !s.shared && s.size <= smallLeaf }

// weigh returns the stretches of a function: first what is in no loop, then each loop.
func (r *rewriter) weigh(code []byte) []stretch {
	all := []stretch{{}}
	open := []int{0} // for each block that has begun, its stretch
	for in := range binary.Instructions(code) {
		current := open[len(open)-1]
		all[current].size += r.size(in)
		switch in.Op {
		case binary.Loop:
			open = append(open, len(all))
			params := in.Index != binary.NoType && len(r.m.Types[in.Index].Params) > 0
			all = append(all, stretch{parent: current, params: params, shared: params})
		case binary.Block, binary.If:
			open = append(open, current)
		case binary.End:
			open = open[:len(open)-1]
		default:
			if shares(in.Op) {
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

// size is what an instruction weighs. A call weighs as much as the small function that it may call and that is
// not charged itself; whether one through a table meets such a function is not known.
func (r *rewriter) size(in binary.Instruction) int {
	switch in.Op {
	case binary.RefFunc:
		return goCall
	case binary.CallIndirect:
		return 1 + smallLeaf
	case binary.Call:
		if in.Index < r.yield {
			return goCall
		}
		return 1 + int(r.leaves[in.Index-r.yield])
	}
	return 1
}

// shares tells of an instruction that others may change the fuel while it runs.
func shares(op binary.Op) bool {
	switch op {
	case binary.Call, binary.CallIndirect, binary.MemoryFill, binary.MemoryCopy, binary.MemoryInit, binary.MemoryGrow,
		binary.TableFill, binary.TableCopy, binary.TableInit, binary.TableGrow:
		return true
	}
	return false
}

// weighLeaves returns for each function of the module's own how many instructions of it its callers pay.
func (r *rewriter) weighLeaves() []uint8 {
	sizes := make([]uint8, len(r.m.Functions))
	for i, f := range r.m.Functions {
		if callsNothing(f.Code) {
			if entry := r.weigh(f.Code)[0]; entry.free() {
				sizes[i] = uint8(entry.size)
			}
		}
	}
	return sizes
}

// callsNothing spares most functions the weighing: nearly all of those that are no leaf call something early.
func callsNothing(code []byte) bool {
	for in := range binary.Instructions(code) {
		if shares(in.Op) {
			return false
		}
	}
	return true
}
