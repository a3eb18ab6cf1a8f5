package binary_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

const head = "\x00asm\x01\x00\x00\x00"

// section returns the encoding of a section.
func section(id byte, data string) string {
	return string(append(binary.AppendUint32([]byte{id}, uint32(len(data))), data...))
}

// function returns a module with one function of type () -> (). The argument "body" contains the
// locals and the code of the function.
func function(body string) string {
	code := string(binary.AppendUint32([]byte{1}, uint32(len(body)))) + body
	return head + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + section(10, code)
}

func leb(n uint32) string { return string(binary.AppendUint32(nil, n)) }

const huge = "\xff\xff\xff\xff\x0f" // 2**32-1

func TestRejected(t *testing.T) {
	for _, c := range []struct {
		name, wasm string
		kind       binary.Kind
		text       string
	}{
		{"an empty file", "", binary.NotWasm, "empty"},
		{"text", "export default async function () {}", binary.NotWasm, "but text"},
		{"text format", "(module)", binary.NotWasm, "wat2wasm"},
		{"gzip", "\x1f\x8b\x08", binary.NotWasm, "gzip"},
		{"an executable", "\x7fELF\x02", binary.NotWasm, "wasm32"},
		{"unknown data", "\x01\x02\x03\x04\x05", binary.NotWasm, "unknown type"},
		{"two bytes", "\x00a", binary.Truncated, "truncated"},
		{"six bytes", "\x00asm\x01\x00", binary.Truncated, "truncated"},
		{"five other bytes", "\x00asm\x02", binary.Truncated, "truncated"},
		{"a component", "\x00asm\x0d\x00\x01\x00", binary.Component, "build a core module (a reactor"},
		{"version 2", "\x00asm\x02\x00\x00\x00", binary.Version, "version 2 "},
		{"a truncated section", head + "\x01\x05\x01\x60", binary.Truncated, "declares 5 bytes, but only 2 bytes are left"},
		{"a truncated size", head + "\x01\x80", binary.Truncated, "inside a section size"},
		{"many sections", head + strings.Repeat("\x00\x01\x00", 1001), binary.OverLimit, "more than 1000 sections"},
		{"an unknown section", head + section(14, ""), binary.Malformed, "unknown section 14"},
		{"tags", head + section(13, "\x00"), binary.Unsupported, "exception handling"},
		{"sections out of order", head + section(3, "\x00") + section(1, "\x00"), binary.Malformed, "out of order"},
		{"a section twice", head + section(1, "\x00") + section(1, "\x00"), binary.Malformed, "duplicated"},
		{"data count after code", head + section(10, "\x00") + section(12, "\x00"), binary.Malformed, "out of order"},
		{"a section with extra bytes", head + section(1, "\x00\x00"), binary.Malformed, "1 extra bytes"},

		{"2**32 types", head + section(1, huge), binary.Malformed, "4294967295 types do not fit the remaining 0 bytes"},
		{"2**32 imports", head + section(2, huge), binary.Malformed, "imports do not fit"},
		{"2**32 functions", head + section(3, huge), binary.Malformed, "functions do not fit"},
		{"2**32 tables", head + section(4, huge), binary.Malformed, "tables do not fit"},
		{"2**32 globals", head + section(6, huge), binary.Malformed, "globals do not fit"},
		{"2**32 exports", head + section(7, huge), binary.Malformed, "exports do not fit"},
		{"2**32 segments", head + section(9, huge), binary.Malformed, "element segments do not fit"},
		{"2**32 elements", head + section(9, "\x01\x01\x00"+huge), binary.Malformed, "elements of a segment do not fit"},
		{"2**32 bodies", head + section(10, huge), binary.Malformed, "function bodies do not fit"},
		{"2**32 data", head + section(11, huge), binary.Malformed, "data segments do not fit"},
		{"2**32 bytes of data", head + section(11, "\x01\x01"+huge), binary.Malformed, "4294967295 bytes are announced"},
		{"2**32 names", head + section(0, "\x04name\x01\x06"+huge+"\x00"), binary.Malformed, "function names do not fit"},
		{"a name of 2**32", head + section(0, huge), binary.Malformed, "has 4294967295 bytes, but only"},
		{"2**32 parameters", head + section(1, "\x01\x60"+huge), binary.Malformed, "parameters of a function type do not fit"},
		{"2**32 locals", function("\x01" + huge + "\x7f\x0b"), binary.OverLimit, "4294967295 locals"},
		{"2**33 locals", function("\x02" + huge + "\x7f" + huge + "\x7f\x0b"), binary.OverLimit, "8589934590 locals"},
		{"2**32 declarations", function(huge + "\x0b"), binary.Malformed, "declarations of locals do not fit"},
		{"2**32 targets", function("\x00\x41\x00\x0e" + huge + "\x00\x0b"), binary.Malformed, "targets of a br_table do not fit"},
		{"a table of 2**32", head + section(4, "\x01\x70\x00"+huge), binary.OverLimit, "4294967295 initial elements"},
		{"two tables", head + section(4, "\x02\x70\x00"+leb(600_000)+"\x70\x00"+leb(600_000)), binary.OverLimit, "1200000 initial elements"},
		{"a memory of 2**32", head + section(5, "\x01\x00"+huge), binary.OverLimit, "4294967295 initial pages"},
		{"a number too long", head + section(1, "\x80\x80\x80\x80\x80\x00"), binary.Malformed, "exceeds 32 bits"},
		{"a number too large", head + section(1, "\xff\xff\xff\xff\x1f"), binary.Malformed, "exceeds 32 bits"},

		{"two memories", head + section(5, "\x02\x00\x01\x00\x01"), binary.MultiMemory, "2 memories"},
		{"imported and own memory", head + section(2, "\x01\x00\x00\x02\x00\x01") + section(5, "\x01\x00\x01"), binary.MultiMemory, "second memory"},
		{"a load from memory 1", function("\x00\xfc\x0b\x01\x0b"), binary.MultiMemory, "memory 1"},
		{"data for memory 1", head + section(11, "\x01\x02\x01\x41\x00\x0b\x00"), binary.MultiMemory, "second memory"},
		{"64-bit memory", head + section(5, "\x01\x04\x01"), binary.Memory64, "wasm32"},
		{"shared memory", head + section(5, "\x01\x03\x01\x01"), binary.SharedMemory, "without -pthread"},
		{"flags of a memory", head + section(5, "\x01\x08\x01"), binary.Malformed, "unknown flags"},
		{"a recursive type", head + section(1, "\x01\x4e\x01\x60\x00\x00"), binary.Unsupported, "garbage"},
		{"an exception type", head + section(1, "\x01\x60\x01\x69\x00"), binary.Unsupported, "exception"},
		{"a typed reference", head + section(1, "\x01\x60\x01\x64\x70\x00"), binary.Unsupported, "typed function references"},
		{"an unknown type", head + section(1, "\x01\x60\x01\x01\x00"), binary.Malformed, "unknown value type 0x01"},

		{"an unknown opcode", function("\x00\x27\x0b"), binary.UnknownOpcode, "unknown instruction 0x27"},
		{"a tail call", function("\x00\x12\x00\x0b"), binary.UnknownOpcode, "-mtail-call"},
		{"a throw", function("\x00\x08\x00\x0b"), binary.UnknownOpcode, "exception handling"},
		{"an atomic", function("\x00\xfe\x03\x00\x0b"), binary.UnknownOpcode, "threads"},
		{"a struct", function("\x00\xfb\x00\x0b"), binary.UnknownOpcode, "garbage"},
		{"relaxed vectors", function("\x00\xfd\x80\x02\x0b"), binary.UnknownOpcode, "-mrelaxed-simd"},
		{"a vector opcode in three bytes", function("\x00\xfd\x8c\x80\x00\x0b"), binary.UnknownOpcode, "overlong"},
		{"a vector opcode in two bytes", function("\x00\xfd\x8c\x00\x0b"), binary.UnknownOpcode, "overlong"},
		{"a bulk opcode in two bytes", function("\x00\xfc\x8b\x00\x00\x0b"), binary.UnknownOpcode, "overlong"},
		{"an unknown vector opcode", function("\x00\xfd\x9a\x01\x0b"), binary.UnknownOpcode, "unknown instruction 0xfd9a"},
		{"a division in a constant", head + section(6, "\x01\x7f\x00\x41\x01\x41\x01\x6d\x0b"), binary.UnknownOpcode, "constant expression"},

		{"a call to an unknown function", function("\x00\x10\x01\x0b"), binary.Malformed, "function index 1 of an instruction is out of range (count 1)"},
		{"an unknown local", function("\x00\x20\x00\x0b"), binary.Malformed, "local index 0 of an instruction"},
		{"an unknown global", function("\x00\x42\x00\x24\x00\x0b"), binary.Malformed, "global index 0 of an instruction"},
		{"an unknown label", function("\x00\x0c\x01\x0b"), binary.Malformed, "label index 1 of an instruction"},
		{"an unknown label of a table", function("\x00\x41\x00\x0e\x01\x00\x02\x0b"), binary.Malformed, "label 2"},
		{"an unknown type of a block", function("\x00\x02\x07\x0b\x0b"), binary.Malformed, "type index 7 of a block"},
		{"an unknown data segment", function("\x00\xfc\x09\x00\x0b"), binary.Malformed, "data segment index 0 of an instruction"},
		{"an unknown element segment", function("\x00\xfc\x0d\x00\x0b"), binary.Malformed, "element segment index 0 of an instruction"},
		{"an unknown table", function("\x00\xfc\x10\x00\x0b"), binary.Malformed, "table index 0 of an instruction"},
		{"an unknown function to export", head + section(7, "\x01\x01f\x00\x00"), binary.Malformed, "function index 0 is out of range"},
		{"an unknown start", head + section(8, "\x00"), binary.Malformed, "function index 0 is out of range"},
		{"a function without an end", function("\x00\x01"), binary.Malformed, "too early"},
		{"code extra bytes at its end", function("\x00\x0b\x0b"), binary.Malformed, "extra bytes at its end"},
		{"else without if", function("\x00\x05\x0b"), binary.Malformed, "else without"},
		{"two elses", function("\x00\x41\x00\x04\x40\x05\x05\x0b\x0b"), binary.Malformed, "else without"},
		{"no code", head + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00"), binary.Malformed, "1 functions are declared, but 0"},
		{"no declaration", head + section(10, "\x01\x02\x00\x0b"), binary.Malformed, "0 functions are declared, but 1"},
		{"a wrong data count", head + section(12, "\x02") + section(11, "\x01\x01\x00"), binary.Malformed, "declares 2 segments"},
		{"deep nesting", function("\x00" + strings.Repeat("\x02\x40", 10_001) + strings.Repeat("\x0b", 10_002)), binary.OverLimit, "deeper than 10000"},
		{"deep loops", function("\x00" + strings.Repeat("\x03\x40", 201) + strings.Repeat("\x0b", 202)), binary.OverLimit, "loops are nested deeper than 200 levels"},
		{"many targets", function("\x00\x41\x00\x0e" + leb(32_769) + strings.Repeat("\x00", 32_770) + "\x0b"), binary.OverLimit, "32769 targets"},
		{"many branch tables", function("\x00" + strings.Repeat("\x41\x00\x0e"+leb(16_384)+strings.Repeat("\x00", 16_385), 4) + "\x0b"), binary.OverLimit, "br_table instructions of all functions"},
		{"many blocks", function("\x00" + strings.Repeat("\x02\x40", 9_900) + strings.Repeat("\x0b", 9_901)), binary.OverLimit, "squares"},
		{"many loops", function("\x00" + strings.Repeat("\x03\x40\x0b", 2_001) + "\x0b"), binary.OverLimit, "more than 2000 loops"},
		{"many parameters", head + section(1, "\x01\x60"+leb(257)+strings.Repeat("\x7f", 257)+"\x00"), binary.OverLimit, "257 parameters"},
		{"a name not in UTF-8", head + section(7, "\x01\x01\xff\x00\x00"), binary.Malformed, "UTF-8"},
		{"a wrong size of a name subsection", head + section(0, "\x04name\x01\x02\x01\x00\x01f"), binary.Malformed, "truncated"},
		{"names with extra bytes", head + section(0, "\x04name\x01\x03\x00\x00\x00"), binary.Malformed, "2 extra bytes"},
		{"two name sections", head + section(0, "\x04name") + section(0, "\x04name"), binary.Malformed, "second name section"},
	} {
		_, err := binary.Parse([]byte(c.wasm), binary.Limits{})
		e, ok := errors.AsType[*binary.Error](err)
		if !ok || e.Kind != c.kind || !strings.Contains(e.Error(), c.text) {
			t.Errorf("%s: Parse = %v; want %v with %q", c.name, err, c.kind, c.text)
		}
		if ok && (e.Offset < 0 || e.Offset > len(c.wasm)) {
			t.Errorf("%s: offset %d in a module of %d bytes", c.name, e.Offset, len(c.wasm))
		}
	}
}

// TestAnnouncedCountsAllocateLittle measures how much memory Parse allocates for modules that
// announce gigabytes.
func TestAnnouncedCountsAllocateLittle(t *testing.T) {
	for _, wasm := range []string{
		head + section(3, huge),
		head + section(9, "\x01\x01\x00"+huge),
		head + section(4, "\x01\x70\x00"+huge),
		head + section(0, "\x04name\x02\x07"+huge+"\x00\x00"),
		function("\x01" + huge + "\x7f\x0b"),
		function("\x00\x41\x00\x0e" + huge + "\x00\x0b"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := binary.Parse([]byte(wasm), binary.Limits{})
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("Parse accepted a module of %d bytes that announces gigabytes", len(wasm))
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("Parse allocated %[2]d bytes for a module of %[1]d", len(wasm), got)
		}
	}
}

// TestLimits sets each limit first to the value that a module needs, and then to this value minus
// one.
func TestLimits(t *testing.T) {
	wasm := []byte(head +
		section(1, "\x02\x60\x02\x7f\x7f\x01\x7f\x60\x00\x00") +
		section(2, "\x02\x01m\x01a\x00\x01\x01m\x01g\x03\x7f\x00") +
		section(3, "\x02\x00\x01") +
		section(4, "\x02\x70\x00\x03\x6f\x00\x04") +
		section(5, "\x01\x00\x02") +
		section(6, "\x01\x7f\x01\x41\x00\x0b") +
		section(7, "\x02\x04long\x00\x00\x01x\x00\x01") +
		section(9, "\x02\x01\x00\x02\x00\x01\x01\x00\x01\x02") +
		section(10, "\x02\x09\x01\x03\x7f\x02\x40\x0b\x20\x00\x0b\x0c\x00\x02\x40\x41\x00\x0e\x02\x00\x01\x00\x0b\x0b") +
		section(11, "\x02\x01\x00\x01\x00"))
	for _, c := range []struct {
		name string
		n    int
		set  func(*binary.Limits, int)
	}{
		{"ModuleBytes", len(wasm), func(l *binary.Limits, n int) { l.ModuleBytes = n }},
		{"Types", 2, func(l *binary.Limits, n int) { l.Types = n }},
		{"Functions", 3, func(l *binary.Limits, n int) { l.Functions = n }},
		{"Globals", 2, func(l *binary.Limits, n int) { l.Globals = n }},
		{"Imports", 2, func(l *binary.Limits, n int) { l.Imports = n }},
		{"Exports", 2, func(l *binary.Limits, n int) { l.Exports = n }},
		{"Tables", 2, func(l *binary.Limits, n int) { l.Tables = n }},
		{"DataSegments", 2, func(l *binary.Limits, n int) { l.DataSegments = n }},
		{"ElementSegments", 2, func(l *binary.Limits, n int) { l.ElementSegments = n }},
		{"Elements", 3, func(l *binary.Limits, n int) { l.Elements = n }},
		{"Params", 2, func(l *binary.Limits, n int) { l.Params = n }},
		{"Results", 1, func(l *binary.Limits, n int) { l.Results = n }},
		{"BodyBytes", 12, func(l *binary.Limits, n int) { l.BodyBytes = n }},
		{"Locals", 5, func(l *binary.Limits, n int) { l.Locals = n }},
		{"AllLocals", 5, func(l *binary.Limits, n int) { l.AllLocals = n }},
		{"Nesting", 1, func(l *binary.Limits, n int) { l.Nesting = n }},
		{"BranchTargets", 2, func(l *binary.Limits, n int) { l.BranchTargets = n }},
		{"Blocks", 1, func(l *binary.Limits, n int) { l.Blocks = n }},
		{"LocalsTimesBlocks", 10, func(l *binary.Limits, n int) { l.LocalsTimesBlocks = n }},
		{"AllPassedValues", 6, func(l *binary.Limits, n int) { l.AllPassedValues = n }},
		{"PassedValues", 4, func(l *binary.Limits, n int) { l.PassedValues = n }},
		{"TableElements", 7, func(l *binary.Limits, n int) { l.TableElements = n }},
		{"MemoryPages", 2, func(l *binary.Limits, n int) { l.MemoryPages = n }},
		{"NameBytes", 4, func(l *binary.Limits, n int) { l.NameBytes = n }},
	} {
		var lim binary.Limits
		c.set(&lim, c.n)
		if _, err := binary.Parse(wasm, lim); err != nil {
			t.Errorf("%s %d: Parse: %v", c.name, c.n, err)
		}
		c.set(&lim, c.n-1)
		if c.n == 1 {
			c.set(&lim, -1) // zero means the default
		}
		_, err := binary.Parse(wasm, lim)
		if e, ok := errors.AsType[*binary.Error](err); !ok || e.Kind != binary.OverLimit {
			t.Errorf("%s %d: Parse = %v; want %v", c.name, c.n-1, err, binary.OverLimit)
		}
	}
}

// TestCallsPassMutableGlobals checks that each call counts the globals that the call may change.
func TestCallsPassMutableGlobals(t *testing.T) {
	globals := "\x03" + "\x7f\x01\x41\x00\x0b" + "\x7f\x01\x41\x00\x0b" + "\x7f\x00\x41\x00\x0b"
	wasm := []byte(head + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + section(6, globals) +
		section(10, "\x01\x08\x00\x10\x00\x10\x00\x10\x00\x0b"))
	if _, err := binary.Parse(wasm, binary.Limits{PassedValues: 8}); err != nil {
		t.Errorf("Parse: %v", err)
	}
	if _, err := binary.Parse(wasm, binary.Limits{PassedValues: 7}); err == nil {
		t.Error("Parse with PassedValues 7 accepted three calls that pass on two mutable globals each; want an error")
	}
}

// TestLimitsOfAllFunctions checks the limits that increase with the size of the code. A module with
// two copies of an accepted function is rejected, unless it has enough other code.
func TestLimitsOfAllFunctions(t *testing.T) {
	module := func(bodies ...string) []byte {
		code := leb(uint32(len(bodies)))
		for _, body := range bodies {
			code += leb(uint32(len(body))) + body
		}
		n := uint32(len(bodies))
		return []byte(head + section(1, "\x01\x60\x00\x00") + section(3, leb(n)+strings.Repeat("\x00", int(n))) + section(10, code))
	}
	long := "\x00" + strings.Repeat("\x01", 1_000_000) + "\x0b"
	for name, body := range map[string]string{
		"blocks":  "\x00" + strings.Repeat("\x02\x40", 5_100) + strings.Repeat("\x0b", 5_101),
		"loops":   "\x00" + strings.Repeat("\x03\x40\x0b", 2_000) + strings.Repeat("\x02\x40\x0b", 1_100) + "\x0b",
		"targets": "\x00\x41\x00\x0e" + leb(30_000) + strings.Repeat("\x00", 30_001) + "\x0b",
	} {
		if _, err := binary.Parse(module(body), binary.Limits{}); err != nil {
			t.Errorf("%s: Parse: %v", name, err)
		}
		if _, err := binary.Parse(module(body, long, body), binary.Limits{}); err != nil {
			t.Errorf("%s twice with long code: Parse: %v", name, err)
		}
		_, err := binary.Parse(module(body, body), binary.Limits{})
		if e, ok := errors.AsType[*binary.Error](err); !ok || e.Kind != binary.OverLimit {
			t.Errorf("%s twice: Parse = %v; want %v", name, err, binary.OverLimit)
		}
	}
}

// TestBlockTypes reads blocks whose type is a value type, empty, or an index of one or two bytes.
func TestBlockTypes(t *testing.T) {
	types := leb(300) + strings.Repeat("\x60\x00\x00", 299) + "\x60\x01\x7f\x00"
	code := "\x00\x02\x40\x0b\x02\x07\x0b\x02\x7f\x41\x00\x0b\x02\xab\x02\x0b\x0b"
	wasm := []byte(head + section(1, types) + section(3, "\x01\x00") + section(10, "\x01"+leb(uint32(len(code)))+code))
	m, err := binary.Parse(wasm, binary.Limits{})
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	var got []uint32
	for in := range binary.Instructions(m.Functions[0].Code) {
		if in.Op == binary.Block {
			got = append(got, in.Index)
		}
	}
	if want := []uint32{binary.NoType, 7, binary.NoType, 299}; !slices.Equal(got, want) {
		t.Errorf("types of blocks = %v; want %v", got, want)
	}
	negative := function("\x00\x02\xc0\x7f\x0b\x0b")
	if _, err := binary.Parse([]byte(negative), binary.Limits{}); err == nil {
		t.Error("Parse accepted a block type that is a negative number of two bytes")
	}
}
