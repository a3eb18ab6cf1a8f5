package corpus

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/wasmtest"
)

// The error numbers of preview 1 that calls must answer.
const (
	done    = 0
	badFile = 8
	fault   = 21
	invalid = 28
	notDir  = 54
	notSock = 57
	notSup  = 58
)

const preview = "wasi_snapshot_preview1."

// wasmSystem are plug-ins that ask for more of WASI than a tool has.
func wasmSystem() []Case {
	const ok = "output null"
	zero := wasmtest.Const(0)
	return []Case{
		wasm("wasi/open_preopened", "A file is opened in the folder that programs are given first.", ok, opening(3, badFile)),
		wasm("wasi/open_stdin", "A file is opened in the standard input, as if it were a folder.", ok, opening(0, notDir)),
		wasm("wasi/preopened", "The folders that programs are given are asked for.", ok, asking(preview+"fd_prestat_get", []int32{3, 0}, badFile)),
		wasm("wasi/read_stdin", "The host's standard input is read.", ok, asking(preview+"fd_read", []int32{0, 0, 1, 8}, done, "\x10\x00\x00\x00\x10\x00\x00\x00")),
		wasm("wasi/write_vectors", "A write of a billion pieces, whose list is longer than memory.", ok, asking(preview+"fd_write", []int32{1, 0, 1 << 29, 8}, invalid)),
		wasm("wasi/write_piece_beyond", "A write of a piece that ends outside of memory.", ok, asking(preview+"fd_write", []int32{1, 0, 1, 8}, fault, "\xf0\xff\x00\x00\x00\xff\xff\xff")),
		wasm("wasi/write_count_beyond", "A write whose count is to be put outside of memory.", ok, asking(preview+"fd_write", []int32{1, 0, 0, -2}, fault)),
		wasm("wasi/print_flood", "Lines are printed for as long as there is time.", "timeout", looping("fd_write", []int32{2, 0, 1, 8}, "\x00\x01\x00\x00\x00\x80\x00\x00")),
		wasm("wasi/print_no_line", "A line is printed that never ends, and is kept until it does.", "timeout", printing()),
		wasm("wasi/random_beyond", "Random bytes are asked for outside of memory.", ok, asking(preview+"random_get", []int32{65_000, 1 << 30}, fault)),
		wasm("wasi/random_flood", "The host makes random bytes for as long as there is time.", "timeout", looping("random_get", []int32{0, 65_536})),
		wasm("wasi/sleep", "An hour of sleep, in a call of the host.", "timeout", sleeping("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\xa0\xb8\x30\x46\x03\x00\x00")),
		wasm("wasi/sleep_for_ever", "A sleep of as many nanoseconds as there are, which may turn out to be less than none.", "timeout", sleeping("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff")),
		wasm("wasi/sleep_in_initialise", "An hour of sleep in what runs once for many runs.", "timeout", assembled(func(m *wasmtest.Module) {
			f := m.Import(preview+"poll_oneoff", 4)
			m.Data(0, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\xa0\xb8\x30\x46\x03\x00\x00")
			m.Func(initialise, 0, append(wasmtest.Call(f, 0, 256, 1, 512), wasmtest.Drop)...)
			m.Func(entryName, 1, zero...)
		})),
		wasm("wasi/poll_flood", "A hundred million subscriptions, whose sizes overflow when they are summed up.", ok, asking(preview+"poll_oneoff", []int32{0, 0, 0x5555556, 8}, invalid)),
		wasm("wasi/poll_nothing", "A wait for nothing, which never comes.", ok, asking(preview+"poll_oneoff", []int32{0, 0, 0, 8}, invalid)),
		wasm("wasi/yield", "The guest gives way, again and again.", "timeout", looping("sched_yield", nil)),
		wasm("wasi/exit_done", "The plug-in ends the process, in the midst of a run, as if all were well.", ok, leaving(0)),
		wasm("wasi/exit_code", "The plug-in ends the process with the code of a success that was cut off.", "tool_error", leaving(256)),
		wasm("wasi/exit_in_initialise", "The plug-in ends the process before there is a run.", "tool_error",
			importing("proc_exit", exitType, zero, binary.Section{ID: binary.StartSection, Data: []byte{1}},
				vector(binary.CodeSection, body(nil, wasmtest.Call(0, 3)), body(nil, zero)))),
		wasm("wasi/raise", "A signal is sent to the process.", ok, asking(preview+"proc_raise", []int32{9}, notSup)),
		wasm("wasi/accept", "A connection is accepted on the standard input.", ok, asking(preview+"sock_accept", []int32{0, 0, 8}, notSock)),
		wasm("wasi/send", "Bytes are sent to a socket that the process may have open.", ok, asking(preview+"sock_send", []int32{5, 0, 1, 0, 8}, badFile)),
		wasm("wasi/close_all", "The standard output is closed, and written to.", ok, closing()),
		wasm("wasi/renumber", "The standard output takes the place of another.", "output null or tool_error", asking(preview+"fd_renumber", []int32{1, 100_000}, badFile)),
		wasm("wasi/environment", "The variables of the host are asked for.", ok, sizes("environ_sizes_get")),
		wasm("wasi/arguments", "The arguments of the host are asked for.", ok, sizes("args_sizes_get")),
		wasm("wasi/environment_beyond", "The number of variables is to be put outside of memory.", ok, asking(preview+"environ_sizes_get", []int32{-4, 65_534}, fault)),
		wasm("wasi/symlink", "A link is made that leads out of every folder.", "output null", asking(preview+"path_symlink", []int32{0, 1, 3, 0, 1}, badFile, "/")),
	}
}

// looping calls a function of WASI for ever.
func looping(function string, args []int32, data ...string) []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Import(preview+function, len(args))
		for i, text := range data {
			m.Data(uint32(i)<<8, text)
		}
		m.Func(entryName, 1, append(again(append(wasmtest.Call(f, args...), wasmtest.Drop)...), wasmtest.Const(0)...)...)
	})
}

// printing writes letters, and never the end of a line.
func printing() []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Import(preview+"fd_write", 4)
		m.Data(0, "\x00\x01\x00\x00\x00\xf0\x00\x00")
		fill := slices.Concat(wasmtest.Const(256), wasmtest.Const('x'), wasmtest.Const(0xf000), []byte{misc, memoryFill, 0})
		m.Func(entryName, 1, slices.Concat(fill, again(append(wasmtest.Call(f, 1, 0, 1, 8), wasmtest.Drop)...), wasmtest.Const(0))...)
	})
}

// sleeping waits for one subscription.
func sleeping(subscription string) []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Import(preview+"poll_oneoff", 4)
		m.Data(0, subscription)
		m.Func(entryName, 1, slices.Concat(wasmtest.Call(f, 0, 256, 1, 512), []byte{wasmtest.Drop}, wasmtest.Const(0))...)
	})
}

var exitType = []byte{0x60, 1, i32, 0}

// leaving ends the process, where nothing may come after.
func leaving(code int32) []byte {
	return importing("proc_exit", exitType, append(wasmtest.Call(0, code), wasmtest.Unreachable))
}

// closing closes the standard output and writes to it.
func closing() []byte {
	return assembled(func(m *wasmtest.Module) {
		shut := m.Import(preview+"fd_close", 1)
		write := m.Import(preview+"fd_write", 4)
		first := wasmtest.Trap(wasmtest.Call(shut, 1), wasmtest.Const(done))
		m.Func(entryName, 1, slices.Concat(first, wasmtest.Trap(wasmtest.Call(write, 1, 0, 0, 8), wasmtest.Const(badFile)), wasmtest.Const(0))...)
	})
}

// sizes asks how many texts there are of a kind; there must be none.
func sizes(function string) []byte {
	return assembled(func(m *wasmtest.Module) {
		f := m.Import(preview+function, 2)
		m.Data(0, "\xff\xff\xff\xff")
		count := slices.Concat(wasmtest.Const(0), []byte{i32Load, 2, 0})
		m.Func(entryName, 1, slices.Concat(wasmtest.Call(f, 0, 4), []byte{wasmtest.Drop}, wasmtest.Trap(count, wasmtest.Const(0)), wasmtest.Const(0))...)
	})
}

// opening opens a file for reading and writing in a folder that has a number. Its type has two integers of 64 bits,
// the rights.
func opening(folder, answer int32) []byte {
	const path = "etc/passwd"
	signature := []byte{0x60, 9, i32, i32, i32, i32, i32, i64, i64, i32, i32, 1, i32}
	args := slices.Concat(wasmtest.Const(folder), wasmtest.Const(1), wasmtest.Const(0), wasmtest.Const(int32(len(path))), wasmtest.Const(1),
		long(-1), long(-1), wasmtest.Const(0), wasmtest.Const(64), index(call, 0))
	return importing("path_open", signature, append(wasmtest.Trap(args, wasmtest.Const(answer)), wasmtest.Const(0)...),
		vector(binary.DataSection, slices.Concat([]byte{0}, wasmtest.Const(0), []byte{wasmtest.End, byte(len(path))}, []byte(path))))
}

// importing is a plug-in with one import of WASI, whose type need not be of i32 alone: function 0. The marker is
// function 1 and the entry, of code, function 2.
func importing(function string, signature, code []byte, sections ...binary.Section) []byte {
	imported := binary.AppendName(binary.AppendName(nil, strings.TrimSuffix(preview, ".")), function)
	all := []binary.Section{
		vector(binary.TypeSection, []byte{0x60, 0, 0}, []byte{0x60, 0, 1, i32}, signature),
		vector(binary.ImportSection, append(imported, byte(binary.ExternFunc), 2)),
		vector(binary.ExportSection, export("memory", binary.ExternMemory, 0), export(marker, binary.ExternFunc, 1), export(entryName, binary.ExternFunc, 2)),
	}
	return doing(nil, code, append(all, sections...)...)
}
