package abitest

import "github.com/toolrun/toolrun/abi"

// collectionCalls returns the vectors of the operations on collections. A guest passes the name of
// a collection like the name of a store.
func collectionCalls() []Vector {
	name := Span{text, "kb"}
	return []Vector{
		{Name: "an entry is stored", Before: []Span{name, {value, `"tea"{"id":"1"}`}},
			Steps: []Step{{"memory.remember", args(text, 2, value, 5, value+5, 10), 16}},
			Want:  Effect{Calls: []abi.Call{call(abi.Remember, `"kb"`, `"tea"`, `{"id":"1"}`)}}},
		{Name: "a collection is searched", Before: []Span{name, {value, `"tea"`}},
			Steps: []Step{{"memory.recall", args(text, 2, value, 5, 0, 0), 7}},
			Want:  Effect{Calls: []abi.Call{call(abi.Recall, `"kb"`, `"tea"`, "")}}},
		{Name: "entries are removed", Before: []Span{name, {value, `{"all":true}`}},
			Steps: []Step{{"memory.forget", args(text, 2, value, 12), 16}},
			Want:  Effect{Calls: []abi.Call{call(abi.Forget, `"kb"`, `{"all":true}`)}}},
	}
}
