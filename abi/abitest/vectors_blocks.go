package abitest

import "github.com/toolrun/toolrun/abi"

// blockCalls returns the vectors of the operations on blocks. A guest passes the name of a block
// like the name of a store.
func blockCalls() []Vector {
	name := Span{text, "core"}
	return []Vector{
		{Name: "a block is read", Before: []Span{name},
			Steps: []Step{{"memory.get_block", args(text, 4, 0, 0), 7}},
			Want:  Effect{Calls: []abi.Call{call(abi.GetBlock, `"core"`, "")}}},
		{Name: "a block is updated for the agent", Before: []Span{name, {value, `"- x"{"agent":true}`}},
			Steps: []Step{{"memory.update_block", args(text, 4, value, 5, value+5, 14), 16}},
			Want:  Effect{Calls: []abi.Call{call(abi.UpdateBlock, `"core"`, `"- x"`, `{"agent":true}`)}}},
		{Name: "a block is deleted", Before: []Span{name},
			Steps: []Step{{"memory.delete_block", args(text, 4, 0, 0), 16}},
			Want:  Effect{Calls: []abi.Call{call(abi.DeleteBlock, `"core"`, "")}}},
		{Name: "blocks are searched", Before: []Span{{value, `"tea"{"limit":2}`}},
			Steps: []Step{{"memory.recall", args(0, 0, value, 5, value+5, 11), 7}},
			Want:  Effect{Calls: []abi.Call{call(abi.Recall, "", `"tea"`, `{"limit":2}`)}}},
	}
}
