package abitest

import (
	"encoding/json"
	"fmt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/abi/conformance"
)

// Vectors use the following addresses of the guest's memory. Arguments are stored at the addresses
// "text" and "value". Replies are copied to the address "buffer". The address pageEnd is the end of
// memory.
const (
	text    = 16
	value   = 64
	buffer  = 256
	pageEnd = 65536
)

const invalid = -9 // the result of a call with an invalid argument

// Vectors returns all worked examples.
func Vectors() []Vector {
	all := append(documents(), writes()...)
	all = append(all, calls()...)
	all = append(append(append(all, factCalls()...), blockCalls()...), collectionCalls()...)
	return append(all, faults()...)
}

func documents() []Vector {
	const input, context = `{"a":1}`, `{"runId":"r"}`
	return []Vector{
		{Name: "the input is read with one call", Input: input,
			Steps: []Step{{"toolrun.input_len", nil, 7}, {"toolrun.input_read", args(buffer, 0, 7), 7}},
			After: []Span{{buffer, input + "\x00"}}},
		{Name: "the input is read in two parts", Input: input,
			Steps: []Step{{"toolrun.input_read", args(buffer, 0, 4), 4}, {"toolrun.input_read", args(buffer+4, 4, 4), 3}},
			After: []Span{{buffer, input + "\x00"}}},
		{Name: "a read at or beyond the end returns no bytes", Input: input,
			Steps: []Step{{"toolrun.input_read", args(buffer, 7, 4), 0}, {"toolrun.input_read", args(buffer, 1<<32-1, 4), 0}},
			After: []Span{{buffer, "\x00\x00\x00\x00"}}},
		{Name: "a buffer at the end of memory", Input: input,
			Steps: []Step{{"toolrun.input_read", args(pageEnd-7, 0, 7), 7}}, After: []Span{{pageEnd - 7, input}}},
		{Name: "a buffer that exceeds memory is rejected, and nothing is written", Input: input,
			Steps: []Step{
				{"toolrun.input_read", args(pageEnd-6, 0, 7), invalid}, {"toolrun.input_read", args(pageEnd-1, 0, 1<<32-1), invalid},
				{"toolrun.input_read", args(1<<32-1, 0, 1), invalid}, {"toolrun.input_read", args(1<<31, 0, 0), invalid},
			}, After: []Span{{pageEnd - 6, "\x00\x00\x00\x00\x00\x00"}}},
		{Name: "the context is read like the input", Context: context,
			Steps: []Step{{"toolrun.context_len", nil, 13}, {"toolrun.context_read", args(buffer, 1, 64), 12}},
			After: []Span{{buffer, context[1:] + "\x00"}}},
		{Name: "a run without documents has empty objects",
			Steps: []Step{{"toolrun.input_len", nil, 2}, {"toolrun.context_len", nil, 2}, {"toolrun.result_len", nil, 0}}},
		{Name: "the input is empty during initialization", Input: input, Initializing: true,
			Steps: []Step{{"toolrun.input_len", nil, 0}, {"toolrun.context_len", nil, 0}, {"toolrun.input_read", args(buffer, 0, 7), 0}}},
	}
}

func writes() []Vector {
	const first, second = `{"sum":3}`, `[1,2]`
	return []Vector{
		{Name: "the output", Before: []Span{{text, first}},
			Steps: []Step{{"toolrun.output_write", args(text, 9), 0}}, Want: Effect{Output: first}},
		{Name: "an output replaces an earlier output", Before: []Span{{text, first}, {value, second}},
			Steps: []Step{{"toolrun.output_write", args(text, 9), 0}, {"toolrun.output_write", args(value, 5), 0}}, Want: Effect{Output: second}},
		{Name: "an output that is too large does not replace an earlier output", Before: []Span{{text, first}, {value, second}}, OutputBytes: 8,
			Steps: []Step{{"toolrun.output_write", args(value, 5), 0}, {"toolrun.output_write", args(text, 9), -19}}, Want: Effect{Output: second}},
		{Name: "an output outside the guest's memory",
			Steps: []Step{{"toolrun.output_write", args(pageEnd-1, 2), invalid}, {"toolrun.output_write", args(1<<32-1, 1<<32-1), invalid}}},
		{Name: "an output that is not JSON", Before: []Span{{text, `{"items":[1,NaN]}`}},
			Steps: []Step{{"toolrun.output_write", args(text, 17), 0}}, Want: Effect{Code: abi.OutputInvalid, Message: "items[1]"}},
		{Name: "a change of the context", Before: []Span{{text, `{"k":1}`}},
			Steps: []Step{{"toolrun.context_write", args(text, 7), 0}}, Want: Effect{Context: `{"k":1}`}},
		{Name: "a context that is not an object", Before: []Span{{text, second}},
			Steps: []Step{{"toolrun.context_write", args(text, 5), 0}}, Want: Effect{Code: abi.OutputInvalid, Message: "object"}},
		{Name: "a reserved key of the context", Before: []Span{{text, `{"steps":{}}`}},
			Steps: []Step{{"toolrun.context_write", args(text, 12), 0}}, Want: Effect{Code: abi.OutputInvalid, Message: "context.steps"}},
		{Name: "an error as text", Before: []Span{{text, "no such color"}}, Exit: 1,
			Steps: []Step{{"toolrun.error_write", args(text, 13), 0}}, Want: Effect{Code: abi.ToolError, Message: "no such color"}},
		{Name: "an error as JSON", Before: []Span{{text, `{"message":"broken","line":3}`}}, Exit: 2,
			Steps: []Step{{"toolrun.error_write", args(text, 29), 0}}, Want: Effect{Code: abi.ToolError, Message: "broken"}},
		{Name: "a failure without an error", Exit: 7, Want: Effect{Code: abi.ToolError, Message: "code 7"}},
		{Name: "log lines", Before: []Span{{text, "one"}},
			Steps: []Step{
				{"toolrun.log", args(0, text, 3), 0}, {"toolrun.log", args(1, text, 2), 0}, {"toolrun.log", args(2, text, 1), 0},
				{"toolrun.log", args(3, text, 0), 0}, {"toolrun.log", args(4, text, 3), invalid}, {"toolrun.log", args(1, pageEnd, 1), invalid},
			},
			Want: Effect{Logs: []string{"debug one", "info on", "warn o", "error "}}},
	}
}

func calls() []Vector {
	store := Span{text, conformance.Store}
	return []Vector{
		{Name: "a record is read", Before: []Span{store},
			Steps: []Step{
				{"memory.get_content", args(text, 5, 0, 0, 0, 0), 7}, {"toolrun.result_len", nil, 7}, {"toolrun.result_read", args(buffer, 0, 7), 7},
			},
			After: []Span{{buffer, conformance.Content}}, Want: Effect{Calls: []abi.Call{call(abi.GetContent, `"prefs"`, "", "")}}},
		{Name: "a projection and options", Before: []Span{store, {value, `{"n":1}{"record":true}`}},
			Steps: []Step{{"memory.get_content", args(text, 5, value, 7, value+7, 15), 7}},
			Want:  Effect{Calls: []abi.Call{call(abi.GetContent, `"prefs"`, `{"n":1}`, `{"record":true}`)}}},
		{Name: "a value is set", Before: []Span{store, {value, `{"n":2}`}},
			Steps: []Step{{"memory.set_content", args(text, 5, value, 7, 0, 0), 16}, {"toolrun.result_read", args(buffer, 0, 100), 16}},
			After: []Span{{buffer, `{"success":true}`}}, Want: Effect{Calls: []abi.Call{call(abi.SetContent, `"prefs"`, `{"n":2}`, "")}}},
		{Name: "a record is deleted", Before: []Span{store},
			Steps: []Step{{"memory.delete_content", args(text, 5, 0, 0), 16}},
			Want:  Effect{Calls: []abi.Call{call(abi.DeleteContent, `"prefs"`, "")}}},
		{Name: "each call replaces the reply", Before: []Span{store},
			Steps: []Step{
				{"memory.delete_content", args(text, 5, 0, 0), 16}, {"memory.get_content", args(text, 5, 0, 0, 0, 0), 7}, {"toolrun.result_len", nil, 7},
			},
			Want: Effect{Calls: []abi.Call{call(abi.DeleteContent, `"prefs"`, ""), call(abi.GetContent, `"prefs"`, "", "")}}},
		{Name: "a store name outside the guest's memory is rejected without a call",
			Steps: []Step{{"memory.get_content", args(pageEnd-1, 2, 0, 0, 0, 0), invalid}, {"memory.get_content", args(1<<32-1, 1<<32-1, 0, 0, 0, 0), invalid}}},
		{Name: "a value outside the guest's memory is rejected without a call", Before: []Span{store},
			Steps: []Step{{"memory.set_content", args(text, 5, pageEnd-1, 2, 0, 0), invalid}}},
		{Name: "bytes that are not UTF-8 are rejected without a call", Before: []Span{{text, "pr\xfffs"}},
			Steps: []Step{{"memory.get_content", args(text, 5, 0, 0, 0, 0), invalid}}},
		{Name: "a call during initialization is rejected", Before: []Span{store}, Initializing: true,
			Steps: []Step{{"memory.get_content", args(text, 5, 0, 0, 0, 0), invalid}}},
	}
}

// faults returns one vector for each fault code, and vectors in which the guest ends the run with a
// fault.
func faults() []Vector {
	var all []Vector
	for _, code := range abi.Codes() {
		store := conformance.FaultStore(code)
		reply := fmt.Sprintf(`{"code":%q,"message":"requested by the test","op":"get_content","store":%q,"id":"1"}`, code, store)
		all = append(all, Vector{
			Name: "the fault " + string(code), Before: []Span{{text, store}},
			Steps: []Step{
				{"memory.get_content", args(text, int64(len(store)), 0, 0, 0, 0), -int32(code.Number())},
				{"toolrun.result_read", args(buffer, 0, 1024), int32(len(reply))},
			},
			After: []Span{{buffer, reply}},
			Want:  Effect{Calls: []abi.Call{call(abi.GetContent, string(quote(store)), "", "")}},
		})
	}
	store := conformance.FaultStore(abi.AccessDenied)
	denied := Vector{
		Name: "a fault that the guest returns", Before: []Span{{text, store}, {value, `{"message":"m","id":"1","line":1.5}`}}, Exit: 1,
		Steps: []Step{
			{"memory.get_content", args(text, int64(len(store)), 0, 0, 0, 0), -2}, {"toolrun.error_write", args(value, 35), 0},
		},
		Want: Effect{Code: abi.AccessDenied, Message: "requested by the test", Calls: []abi.Call{call(abi.GetContent, string(quote(store)), "", "")}},
	}
	forged := Vector{
		Name: "a fault with an id that the host has not issued", Before: []Span{{value, `{"message":"m","id":"1","code":"conflict"}`}}, Exit: 1,
		Steps: []Step{{"toolrun.error_write", args(value, 42), 0}},
		Want:  Effect{Code: abi.ToolError, Message: "m"},
	}
	return append(all, denied, forged)
}

func args(numbers ...int64) []int64 { return numbers }

// call returns a call to the operation op. The arguments of the call are JSON texts. The text ""
// represents an absent argument.
func call(op string, texts ...string) abi.Call {
	c := abi.Call{Op: op}
	for _, t := range texts {
		c.Args = append(c.Args, json.RawMessage(t))
	}
	return c
}

func quote(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // encoding any string succeeds
	}
	return text
}
