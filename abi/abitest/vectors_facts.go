package abitest

import (
	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/conformance"
)

// factCalls returns the vectors of the operations on facts. The path of a fact is a JSON string.
func factCalls() []Vector {
	path := Span{text, `"user.n"`}
	return []Vector{
		{Name: "a fact is read", Before: []Span{path},
			Steps: []Step{{"memory.get_fact", args(text, 8, 0, 0), 7}, {"toolrun.result_read", args(buffer, 0, 7), 7}},
			After: []Span{{buffer, conformance.Content}}, Want: Effect{Calls: []abi.Call{call(abi.GetFact, `"user.n"`, "")}}},
		{Name: "a fact is set with a lifetime", Before: []Span{path, {value, `2{"ttl":"1h"}`}},
			Steps: []Step{{"memory.set_fact", args(text, 8, value, 1, value+1, 12), 16}},
			Want:  Effect{Calls: []abi.Call{call(abi.SetFact, `"user.n"`, `2`, `{"ttl":"1h"}`)}}},
		{Name: "a fact is deleted", Before: []Span{path},
			Steps: []Step{{"memory.delete_fact", args(text, 8, 0, 0), 16}},
			Want:  Effect{Calls: []abi.Call{call(abi.DeleteFact, `"user.n"`, "")}}},
		{Name: "facts are listed",
			Steps: []Step{{"memory.list_facts", args(0, 0, 0, 0, 0, 0, 0, 0), 7}},
			Want:  Effect{Calls: []abi.Call{call(abi.ListFacts, "", "", "", "")}}},
	}
}
