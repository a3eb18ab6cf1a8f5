package fuel

import "github.com/toolrun/toolrun/internal/wasm/binary"

// perUnit is how many instructions, or bytes moved by one instruction, cost a unit of fuel beyond the first:
// 1 << perUnit. So a long stretch of code without a loop is charged for, and a short one costs 1.
const perUnit = 6

// smallLeaf is how many instructions a function that calls nothing may have outside of its loops without being
// charged for its entry: its caller pays, as for an instruction that is a little dear.
const smallLeaf = 32

// stretch is the part of a function that belongs to one loop, the loops in it left out, or to no loop at all.
type stretch struct {
	// parent is the stretch that it stands in.
	parent int
	// size is its instructions.
	size int
	// params tells that it is a loop with parameters, whose turn cannot be taken anew from within a block.
	params bool
	// shared tells that others change the fuel while the stretch runs: what it calls, or a loop in it that
	// counts in the global.
	shared bool
}

// weight is what a turn costs: 1, and more for many instructions, but no more than a guest is sure to get.
func (s stretch) weight() int64 { return min(1+int64(s.size>>perUnit), Slice) }

// weigh returns the stretches of a function: first what is in no loop, then each loop.
func (r *rewriter) weigh(code []byte) []stretch {
	all := []stretch{{}}
	open := []int{0} // for each block that has begun, its stretch
	for in := range binary.Instructions(code) {
		current := open[len(open)-1]
		all[current].size++
		switch in.Op {
		case binary.Loop:
			open = append(open, len(all))
			params := in.Index != binary.NoType && len(r.m.Types[in.Index].Params) > 0
			all = append(all, stretch{parent: current, params: params, shared: params})
		case binary.Block, binary.If:
			open = append(open, current)
		case binary.End:
			open = open[:len(open)-1]
		case binary.Call, binary.CallIndirect, binary.MemoryFill, binary.MemoryCopy, binary.MemoryInit, binary.MemoryGrow,
			binary.TableFill, binary.TableCopy, binary.TableInit, binary.TableGrow:
			all[current].shared = true
		}
	}
	for i := len(all) - 1; i > 0; i-- {
		if all[i].shared {
			all[all[i].parent].shared = true
		}
	}
	return all
}
