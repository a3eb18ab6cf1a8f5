package binary_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

func TestZZStats(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("ZZ")) {
		b, _ := os.ReadFile(f)
		s := time.Now()
		m, err := binary.Parse(b, binary.Limits{})
		d := time.Since(s)
		if err != nil {
			fmt.Println(f, err)
			big := 1 << 30
			m, err = binary.Parse(b, binary.Limits{ModuleBytes: big, Types: big, Functions: big, Globals: big, Imports: big, Exports: big, Tables: big, DataSegments: big, ElementSegments: big, Elements: big, Params: big, Results: big, BodyBytes: big, Locals: big, AllLocals: big, Blocks: big, Spread: big, AllCarried: big, Nesting: big, BranchTargets: big, Carried: big, TableElements: big, MemoryPages: big, NameBytes: big})
			if err != nil {
				fmt.Println(err)
				continue
			}
		}
		mut := 0
		for _, g := range m.GlobalTypes {
			if g.Mutable {
				mut++
			}
		}
		var maxBody, maxLoc, maxBlk, maxProd, maxCalls, allLoc, calls, maxBlkLoop, maxnest, mtg int
		for _, fn := range m.Functions {
			blk, c, loops, depth := 1, 0, 0, 0
			for in := range binary.Instructions(fn.Code) {
				switch in.Op {
				case binary.Loop:
					loops++
					blk++
					depth++
				case binary.Block, binary.If:
					blk++
					depth++
				case binary.End:
					depth--
				case binary.BrTable:
					mtg = max(mtg, in.Count)
				case binary.Call, binary.CallIndirect:
					c += 1
				}
				maxnest = max(maxnest, depth)
			}
			calls += c
			allLoc += fn.Locals
			maxBody, maxLoc, maxBlk, maxProd, maxCalls = max(maxBody, len(fn.Body)), max(maxLoc, fn.Locals), max(maxBlk, blk), max(maxProd, blk*fn.Locals), max(maxCalls, c)
			maxBlkLoop = max(maxBlkLoop, loops*fn.Locals)
		}
		fmt.Printf("%s: %d KB %v, types %d funcs %d globals %d (mut %d) imports %d exports %d data %d pages %d; max body %d locals %d blocks %d nest %d brt %d blocks*locals %d loops*locals %d calls %d; all locals %d calls %d\n", f, len(b)>>10, d, len(m.Types), len(m.Functions), len(m.Globals), mut, len(m.Imports), len(m.Exports), len(m.Data), m.Memory.Min, maxBody, maxLoc, maxBlk, maxnest, mtg, maxProd, maxBlkLoop, maxCalls, allLoc, calls)
	}
}
