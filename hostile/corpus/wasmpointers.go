package corpus

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// The faults that a call answers.
const (
	notFound        = -1
	invalidArgument = -9
	outputLimit     = -19
)

// wasmPointers are plug-ins that lie to the host about where things are, and about what they are.
func wasmPointers() []Case {
	const ok = "output null"
	return []Case{
		wasm("pointer/read_beyond", "The input is to be copied to where there is no memory.", ok, asking("toolrun.input_read", []int32{65_535, 0, 2}, invalidArgument)),
		wasm("pointer/read_wraps", "A place and a length whose sum is small again in 32 bits.", ok, asking("toolrun.input_read", []int32{-2, 0, 4}, invalidArgument)),
		wasm("pointer/offset_wraps", "A part of the input from beyond its end, with a length that leads back into it.", ok, asking("toolrun.input_read", []int32{0, -1, 2}, 0)),
		wasm("pointer/output_beyond", "An answer that begins in memory and ends outside of it.", ok, asking("toolrun.output_write", []int32{65_000, 1_000}, invalidArgument)),
		wasm("pointer/output_negative", "An answer of minus one bytes.", ok, asking("toolrun.output_write", []int32{0, -1}, invalidArgument)),
		wasm("pointer/error_beyond", "An error that ends outside of memory.", ok, asking("toolrun.error_write", []int32{-4, 4}, invalidArgument)),
		wasm("pointer/context_beyond", "A context that ends outside of memory.", ok, asking("toolrun.context_write", []int32{1, 2147483647}, invalidArgument)),
		wasm("pointer/log_beyond", "A log line that ends outside of memory.", ok, asking("toolrun.log", []int32{1, 65_536, 1}, invalidArgument)),
		wasm("pointer/log_level", "A log line of a level that no list has.", ok, asking("toolrun.log", []int32{-1, 0, 1}, invalidArgument)),
		wasm("pointer/store_beyond", "The name of a store lies outside of memory.", ok, asking("memory.get_content", []int32{65_534, 3, 0, 0, 0, 0}, invalidArgument)),
		wasm("pointer/value_beyond", "A content ends outside of memory.", ok, asking("memory.set_content", []int32{0, 3, 65_000, 2147483647, 0, 0}, invalidArgument, Own)),
		wasm("pointer/options_beyond", "The options of a deletion lie outside of memory.", ok, asking("memory.delete_content", []int32{0, 3, -1, 1}, invalidArgument, Own)),
		wasm("pointer/absent_store", "There is no name, at a place that there is not either.", ok, asking("memory.get_content", []int32{-1, 0, -1, 0, -1, 0}, invalidArgument)),
		wasm("pointer/reply_before_call", "The reply is asked for before there is one.", ok, asking("toolrun.result_read", []int32{0, 0, 65_536}, 0)),
		wasm("pointer/everything_read", "All of memory is the buffer for the input.", ok, asking("toolrun.input_read", []int32{0, 0, 65_536}, 2)),
		wasm("pointer/reply_over_arguments", "The reply is written over the arguments of the next call, which then has another name.", ok, overlappingReply()),
		wasm("value/store_not_utf8", "The name of a store is no text.", ok, asking("memory.get_content", []int32{0, 3, 0, 0, 0, 0}, invalidArgument, "ow\xff")),
		wasm("value/store_nul", "The name of a store goes on after a NUL.", ok, asking("memory.get_content", []int32{0, 9, 0, 0, 0, 0}, notFound, "own\x00vault")),
		wasm("value/store_quoted", "The name of a store would end the text that the host writes it into.", ok, asking("memory.get_content", []int32{0, 14, 0, 0, 0, 0}, notFound, `own","vault":"`)),
		wasm("value/store_vault", "A store that exists, and was not granted.", ok, asking("memory.get_content", []int32{0, 5, 0, 0, 0, 0}, notFound, Vault)),
		wasm("value/content_not_utf8", "A content whose texts are no texts.", ok, setting("{\"a\":\"\xc0\x80\"}", invalidArgument)),
		wasm("value/content_surrogate", "A content with half of a pair, written as an escape.", ok, setting(`{"a":"\ud800"}`, invalidArgument)),
		wasm("value/content_key_twice", "A content that has a name twice, spelt in two ways, of which each reader takes another.", ok, setting(`{"a":1,"\u0061":2}`, invalidArgument)),
		wasm("value/content_number", "A content with a number whose digits would fill memory.", ok, setting(`{"a":1e999999999}`, invalidArgument)),
		wasm("value/content_two", "Two contents, one after the other.", ok, setting(`{"a":1}{"a":2}`, invalidArgument)),
		wasm("value/content_not_json", "A content in a language that some readers of JSON understand.", ok, setting(`{a:NaN,/*b*/'c':0x10,}`, invalidArgument)),
		wasm("value/output_not_json", "An answer that ends in the middle.", "output_invalid", answering(`{"a":[1,2`)),
		wasm("value/output_two", "Two answers in one, of which the second is the host's to write.", "output_invalid", answering(`{"ok":1},"error":null,"x":{}`)),
		wasm("value/output_deep", "An answer nested ten thousand deep.", "output_invalid", answering(strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000))),
		wasm("value/output_key_twice", "An answer with a name twice.", "output_invalid", answering(`{"ok":true,"ok":false}`)),
		wasm("value/output_not_utf8", "An answer that is no text.", "output_invalid", answering("\"\xed\xa0\x80\"")),
		wasm("value/output_space", "An answer of nothing but spaces.", "output_invalid", answering(strings.Repeat(" ", 1_000))),
		wasm("value/output_large", "An answer larger than the host takes, behind which the plug-in says that all is well.", ok, tooLarge()),
		wasm("value/error_forged", "An error with the number of a fault that the host never gave.", "tool_error", failing(`{"message":"no","code":"internal","id":"1"}`, 1)),
		wasm("value/error_not_utf8", "An error that is no text.", "tool_error", failing("\xff\xfe\x00no", 1)),
		wasm("value/error_deep", "An error nested ten thousand deep.", "tool_error", failing(`{"message":`+strings.Repeat(`{"a":`, 10_000), 1)),
		wasm("value/error_places", "An error with a place that no file has, and a stack of control characters.", "tool_error",
			failing(`{"message":"\u001b[2J","file":"/etc/passwd","line":-9223372036854775808,"column":1,"stack":"\u001b]0;x\u0007"}`, 1)),
		wasm("value/error_numbers", "An error whose line is no number that fits.", "tool_error", failing(`{"message":"no","line":1e400}`, 1)),
		wasm("value/error_silent", "A failure with the least number there is, and no reason.", "tool_error", failing("", -2147483648)),
		wasm("value/context_workflow", "The context claims what other steps answered.", "output_invalid", contexting(`{"steps":{"a":1}}`)),
		wasm("value/context_list", "A context that is no object.", "output_invalid", contexting(`[1]`)),
		wasm("log/flood", "Log lines for as long as there is time.", "timeout", assembled(func(m *wasmtest.Module) {
			f := m.Import("toolrun.log", 3)
			m.Func(entryName, 1, append(again(append(wasmtest.Call(f, 3, 0, 65_536), wasmtest.Drop)...), wasmtest.Const(0)...)...)
		})),
		wasm("log/controls", "A log line that clears the screen.", ok, asking("toolrun.log", []int32{1, 0, 12}, 0, "\x1b[2J\x1b]0;x\x07\r\n")),
	}
}

// setting is a plug-in that stores a content and must be answered as said.
func setting(content string, answer int32) []byte {
	return asking("memory.set_content", []int32{0, 3, 256, int32(len(content)), 0, 0}, answer, Own, content)
}

// saying is a plug-in that hands a text to a function and ends with a code.
func saying(function, text string, code int32) []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Import(function, 2)
		m.Data(0, text)
		m.Func(entryName, 1, slices.Concat(wasmtest.Call(f, 0, int32(len(text))), []byte{wasmtest.Drop}, wasmtest.Const(code))...)
	})
}

func answering(output string) []byte           { return saying("toolrun.output_write", output, 0) }
func contexting(keys string) []byte            { return saying("toolrun.context_write", keys, 0) }
func failing(reason string, code int32) []byte { return saying("toolrun.error_write", reason, code) }

// tooLarge offers an answer of two megabytes, which must be refused at the call.
func tooLarge() []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Import("toolrun.output_write", 2)
		grow := slices.Concat(wasmtest.Const(64), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop})
		m.Func(entryName, 1, slices.Concat(grow, wasmtest.Trap(wasmtest.Call(f, 0, 2<<20), wasmtest.Const(outputLimit)), wasmtest.Const(0))...)
	})
}

// overlappingReply reads a fault into the place of the name that it asked for, and asks again: for a store called
// {"code, which there is not.
func overlappingReply() []byte {
	return assembled(func(m *wasmtest.Module) {
		get := m.Import("memory.get_content", 6)
		read := m.Import("toolrun.result_read", 3)
		m.Data(0, Vault)
		ask := wasmtest.Trap(wasmtest.Call(get, 0, 5, 0, 0, 0, 0), wasmtest.Const(notFound))
		m.Func(entryName, 1, slices.Concat(ask, wasmtest.Call(read, 0, 0, 64), []byte{wasmtest.Drop}, ask, wasmtest.Const(0))...)
	})
}
