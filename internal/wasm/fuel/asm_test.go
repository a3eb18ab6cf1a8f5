package fuel_test

import (
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// guest builds a module with a memory of one page that can grow to four pages. The module also has
// a table of four functions.
type guest struct {
	types   []binary.FuncType
	funcs   []guestFunc
	imports []binary.Import // of functions
	data    string          // one passive segment
}

type guestFunc struct {
	typ    int
	locals []binary.ValueType
	code   []byte
	export string
}

var i32 = []binary.ValueType{binary.I32}

// typ returns the index of a function type. typ adds the type if it is new.
func (g *guest) typ(params, results []binary.ValueType) int {
	want := binary.FuncType{Params: params, Results: results}
	for i, t := range g.types {
		if t.String() == want.String() {
			return i
		}
	}
	g.types = append(g.types, want)
	return len(g.types) - 1
}

// add adds an exported function and returns its index.
func (g *guest) add(export string, params, results, locals []binary.ValueType, code ...[]byte) int {
	g.funcs = append(g.funcs, guestFunc{typ: g.typ(params, results), locals: locals, code: cat(code...), export: export})
	return len(g.imports) + len(g.funcs) - 1
}

// bytes returns the encoded module.
func (g *guest) bytes() []byte {
	var types, imports, funcs, exports, codes, names []byte
	for _, t := range g.types {
		types = append(types, 0x60)
		types = append(binary.AppendUint32(types, uint32(len(t.Params))), valueTypes(t.Params)...)
		types = append(binary.AppendUint32(types, uint32(len(t.Results))), valueTypes(t.Results)...)
	}
	for _, i := range g.imports {
		imports = binary.AppendName(binary.AppendName(imports, i.Module), i.Name)
		imports = binary.AppendUint32(append(imports, 0), i.Type)
	}
	for i, f := range g.funcs {
		index := uint32(len(g.imports) + i)
		funcs = binary.AppendUint32(funcs, uint32(f.typ))
		exports = binary.AppendUint32(append(binary.AppendName(exports, f.export), 0), index)
		names = binary.AppendName(binary.AppendUint32(names, index), f.export)
		body := binary.AppendUint32(nil, uint32(len(f.locals)))
		for _, t := range f.locals {
			body = append(body, 1, byte(t))
		}
		body = append(append(body, f.code...), endOp)
		codes = append(binary.AppendUint32(codes, uint32(len(body))), body...)
	}
	exports = append(binary.AppendName(exports, "memory"), 2, 0)
	n := uint32(len(g.funcs))
	elements := cat([]byte{0, 0x41, 0, endOp, 4}, uleb(0%n), uleb(1%n), uleb(2%n), uleb(3%n))
	part := binary.AppendVector(nil, n, names)
	vector := func(id byte, n uint32, data []byte) binary.Section {
		return binary.Section{ID: id, Data: binary.AppendVector(nil, n, data)}
	}
	return binary.Join([]binary.Section{
		vector(binary.TypeSection, uint32(len(g.types)), types),
		vector(binary.ImportSection, uint32(len(g.imports)), imports),
		vector(binary.FunctionSection, n, funcs),
		vector(binary.TableSection, 1, []byte{0x70, 1, 4, 8}),
		vector(binary.MemorySection, 1, []byte{1, 1, 4}),
		vector(binary.ExportSection, n+1, exports),
		vector(binary.ElementSection, 1, elements),
		{ID: binary.DataCountSection, Data: uleb(1)},
		vector(binary.CodeSection, n, codes),
		vector(binary.DataSection, 1, binary.AppendName([]byte{1}, g.data)),
		{ID: binary.CustomSection, Data: cat(binary.AppendName(nil, "name"), []byte{1}, uleb(len(part)), part)},
	})
}

func valueTypes(types []binary.ValueType) (out []byte) {
	for _, t := range types {
		out = append(out, byte(t))
	}
	return out
}

func cat(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func uleb[N ~int | ~uint32](n N) []byte { return binary.AppendUint32(nil, uint32(n)) }

// The following functions return the instructions of the test guests. The code for the operands
// must precede these instructions.
const (
	endOp    = 0x0b
	i32Eqz   = 0x45
	i32LtU   = 0x49
	i32Add   = 0x6a
	i32Sub   = 0x6b
	i32Mul   = 0x6c
	i32DivU  = 0x6e
	i32Xor   = 0x73
	i32Rotl  = 0x77
	i32Load  = 0x28
	i32Store = 0x36
)

func num(n int) []byte             { return binary.AppendInt64([]byte{0x41}, int64(int32(n))) }
func get(local int) []byte         { return append([]byte{0x20}, uleb(local)...) }
func set(local int) []byte         { return append([]byte{0x21}, uleb(local)...) }
func tee(local int) []byte         { return append([]byte{0x22}, uleb(local)...) }
func op(code byte) []byte          { return []byte{code} }
func br(label int) []byte          { return append([]byte{0x0c}, uleb(label)...) }
func brIf(label int) []byte        { return append([]byte{0x0d}, uleb(label)...) }
func call(f int) []byte            { return append([]byte{0x10}, uleb(f)...) }
func callIndirect(typ int) []byte  { return append(append([]byte{0x11}, uleb(typ)...), 0) }
func block(body ...[]byte) []byte  { return enclose(0x02, body) }
func loop(body ...[]byte) []byte   { return enclose(0x03, body) }
func ifThen(body ...[]byte) []byte { return enclose(0x04, body) }
func load() []byte                 { return []byte{i32Load, 2, 0} }
func store() []byte                { return []byte{i32Store, 2, 0} }
func fill() []byte                 { return []byte{0xfc, 0x0b, 0} }
func copyMemory() []byte           { return []byte{0xfc, 0x0a, 0, 0} }
func grow() []byte                 { return []byte{0x40, 0} }

func enclose(op byte, body [][]byte) []byte {
	return append(append([]byte{op, 0x40}, cat(body...)...), endOp)
}

// brTable branches to a label that the value on the stack selects. The last label is the default.
func brTable(labels ...int) []byte {
	out := append([]byte{0x0e}, uleb(len(labels)-1)...)
	for _, l := range labels {
		out = append(out, uleb(l)...)
	}
	return out
}

// countdown repeats body and decrements a local until the local is zero. body must not change the
// local.
func countdown(local int, body ...[]byte) []byte {
	return loop(cat(body...), get(local), num(1), op(i32Sub), tee(local), brIf(0))
}

func parse(t testing.TB, wasm []byte) *binary.Module {
	t.Helper()
	m, err := binary.Parse(wasm, binary.Limits{})
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return m
}
