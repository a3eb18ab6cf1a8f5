package fuel_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/fuel"
)

// spent runs the function "run" of a guest. spent returns the spent fuel and the number of yields.
func spent(t *testing.T, wasm []byte, args ...uint64) (units, yields int64) {
	t.Helper()
	rewritten, err := fuel.Rewrite(parse(t, wasm), fuel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	granted := int64(0)
	refill(t, r, func(_ api.Module, left int64) {
		units += granted - left
		granted = fuel.Slice
		yields++
	})
	m, err := r.Instantiate(ctx, rewritten)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.ExportedFunction("run").Call(ctx, args...); err != nil {
		t.Fatal(err)
	}
	return units, yields
}

// TestCosts measures the fuel that many iterations cost.
func TestCosts(t *testing.T) {
	const iterations = 1_000_000
	nop, drop := op(0x01), op(0x1a)
	inner := cat(num(9), set(1), countdown(1))
	for _, c := range []struct {
		name      string
		iteration []byte // the body of the loop, which can call functions 0 to 4
		each      int64  // the fuel that an iteration costs
		grows     int64  // the number of times that memory or a table grows in each iteration
	}{
		{"nothing", nil, 1, 0},
		{"many instructions", repeat(64*7, nop), 8, 0},
		{"many instructions in a block", block(repeat(64*7, nop)), 8, 0},
		{"a call to a small function", call(0), 1, 0},
		{"a call to a large function", call(1), 1 + 11, 0},
		{"a call to a function that calls", call(2), 2, 0},
		{"a call through the table", cat(num(2), callIndirect(0)), 2, 0},
		{"a loop", inner, 1 + 9, 0},
		{"a loop and a call", cat(inner, call(2)), 1 + 9 + 1, 0},
		{"a loop that calls", cat(num(9), set(1), countdown(1, call(2))), 1 + 9*2, 0},
		{"a loop with a parameter", cat(num(9), []byte{0x03, 1}, num(1), op(i32Sub), tee(1), get(1), brIf(0), op(endOp), drop), 1 + 9, 0},
		{"a fill", cat(num(0), num(0), num(6400), fill()), 1 + 100, 0},
		{"a copy", cat(num(0), num(0), num(640), copyMemory()), 1 + 10, 0},
		{"growing", cat(num(0), grow(), drop), 1, 1},
		{"calls to a small function", repeat(64, call(3)), 1 + 20, 0},
		{"calls through the table", repeat(64, num(2), callIndirect(0)), 1 + 34 + 64, 0},
		{"a reference to a function", repeat(2, op(0xd2), uleb(0), drop), 1 + 8, 0},
		{"a call to a function that refers to one", call(4), 1 + 5, 0},
	} {
		g := &guest{}
		g.typ(nil, nil)
		g.typ(i32, i32)
		g.add("small", nil, nil, nil)
		g.add("large", nil, nil, nil, repeat(640, nop))
		g.add("calls", nil, nil, nil, call(0))
		g.add("twenty", nil, nil, nil, repeat(18, nop))
		g.add("refers", nil, nil, nil, op(0xd2), uleb(0), drop)
		g.add("run", i32, nil, i32, countdown(0, c.iteration))
		n := iterations / c.each
		units, yields := spent(t, g.bytes(), uint64(n))
		extra := n*c.each/fuel.Slice + 2
		// The remaining fuel of the last slice is unknown. In addition, an iteration that is
		// interrupted by a yield may be executed again.
		low, high := n*c.each-fuel.Slice, n*c.each+extra*c.each
		if units < low || units > high || yields < n*c.grows || yields > n*c.grows+extra {
			t.Errorf("%d iterations of %s cost %d units and %d yields; want %d to %d, and %d to %d", n, c.name, units, yields, low, high, n*c.grows, n*c.grows+extra)
		}
	}
}

// TestStackTrace compares the complete text of a trap, including function names.
func TestStackTrace(t *testing.T) {
	g := &guest{imports: []binary.Import{{Module: "env", Name: "trap"}}}
	g.typ(nil, nil)
	g.add("inner", nil, nil, nil, loop(op(0x00)))
	g.add("middle", nil, nil, nil, call(1))
	g.add("run", nil, nil, nil, call(2))
	wasm := g.bytes()
	rewritten, err := fuel.Rewrite(parse(t, wasm), fuel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, fuelled := trap(t, wasm), trap(t, rewritten)
	if plain != fuelled || !strings.Contains(fuelled, ".middle") {
		t.Errorf("trap:\n%s\nwant:\n%s", fuelled, plain)
	}
}

func trap(t *testing.T, wasm []byte) string {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	refill(t, r, nil)
	if _, err := r.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func() {}).Export("trap").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	m, err := r.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.ExportedFunction("run").Call(ctx)
	if err == nil {
		t.Fatal("no trap")
	}
	return err.Error()
}

func TestImportNames(t *testing.T) {
	rewritten, err := fuel.Rewrite(parse(t, bareLoop()), fuel.Options{Module: "host", Name: "more"})
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, rewritten)
	if len(m.Imports) != 1 || m.Imports[0].Module != "host" || m.Imports[0].Name != "more" {
		t.Errorf("imports = %+v; want host.more", m.Imports)
	}
	if got := m.FuncType(0).String(); got != "(i64) -> (i64)" {
		t.Errorf("type of yield = %s; want (i64) -> (i64)", got)
	}
}

func TestReservedModule(t *testing.T) {
	g := &guest{imports: []binary.Import{{Module: "toolrun:fuel", Name: "yield"}}}
	g.typ(nil, nil)
	g.add("run", nil, nil, nil)
	if _, err := fuel.Rewrite(parse(t, g.bytes()), fuel.Options{}); err == nil {
		t.Error("Rewrite accepted a module that imports yield")
	}
	if _, err := fuel.Rewrite(parse(t, g.bytes()), fuel.Options{Module: "other"}); err != nil {
		t.Errorf("Rewrite: %v", err)
	}
}

// TestCounterIsInaccessible writes to the index that the global for the fuel would get.
func TestCounterIsInaccessible(t *testing.T) {
	g := &guest{}
	g.add("run", nil, nil, nil, loop([]byte{0x42, 0, 0x24, 0}, br(0)))
	if _, err := binary.Parse(g.bytes(), binary.Limits{}); err == nil {
		t.Error("Parse accepted a module that writes to an unknown global")
	}
}

// TestTablesAreBounded rewrites a module that imports one table and defines another.
func TestTablesAreBounded(t *testing.T) {
	for _, c := range []struct {
		bounds string // the maximum of the table that the module defines
		want   binary.Bounds
	}{
		{"\x00\x04", binary.Bounds{Min: 4, Max: 10, HasMax: true}},
		{"\x00\x0c", binary.Bounds{Min: 12, Max: 12, HasMax: true}},
		{"\x01\x04\x05", binary.Bounds{Min: 4, Max: 5, HasMax: true}},
		{"\x01\x04\x0f", binary.Bounds{Min: 4, Max: 10, HasMax: true}},
	} {
		wasm := binary.Join([]binary.Section{
			{ID: binary.TypeSection, Data: []byte("\x01\x60\x00\x00")},
			{ID: binary.ImportSection, Data: []byte("\x01\x01m\x01t\x01\x70\x00\x01")},
			{ID: binary.FunctionSection, Data: []byte("\x01\x00")},
			{ID: binary.TableSection, Data: []byte("\x01\x6f" + c.bounds)},
			{ID: binary.CodeSection, Data: []byte("\x01\x02\x00\x0b")},
		})
		rewritten, err := fuel.Rewrite(parse(t, wasm), fuel.Options{TableElements: 10})
		if err != nil {
			t.Fatal(err)
		}
		if got := parse(t, rewritten).Tables; len(got) != 2 || got[1].Element != binary.ExternRef || got[1].Bounds != c.want {
			t.Errorf("tables = %+v; want %+v", got, c.want)
		}
	}
}

// TestTablesShareTheirBound checks the maximum sizes of modules with several tables.
func TestTablesShareTheirBound(t *testing.T) {
	for bound, want := range map[uint32][]uint32{100: {2, 4 + 31, 0 + 31, 1 + 31}, 5: {2, 4, 0, 1}} {
		wasm := binary.Join([]binary.Section{
			{ID: binary.TypeSection, Data: []byte("\x01\x60\x00\x00")},
			{ID: binary.FunctionSection, Data: []byte("\x01\x00")},
			{ID: binary.TableSection, Data: []byte("\x04\x70\x01\x02\x02\x70\x00\x04\x6f\x00\x00\x70\x01\x01\x7f")},
			{ID: binary.CodeSection, Data: []byte("\x01\x02\x00\x0b")},
		})
		rewritten, err := fuel.Rewrite(parse(t, wasm), fuel.Options{TableElements: bound})
		if err != nil {
			t.Fatal(err)
		}
		for i, table := range parse(t, rewritten).Tables {
			if table.Bounds.Max != want[i] {
				t.Errorf("bound %d: table %d may grow to %d; want %d", bound, i, table.Bounds.Max, want[i])
			}
		}
	}
}

func TestNoCodeNoChange(t *testing.T) {
	wasm := binary.Join([]binary.Section{
		{ID: binary.CustomSection, Data: binary.AppendName(nil, "note")},
		{ID: binary.MemorySection, Data: []byte{1, 0, 1}},
	})
	rewritten, err := fuel.Rewrite(parse(t, wasm), fuel.Options{})
	if err != nil || !bytes.Equal(rewritten, wasm) {
		t.Errorf("Rewrite = %x, %v; want %x", rewritten, err, wasm)
	}
}

func TestCustomSectionsAreDropped(t *testing.T) {
	sections, err := binary.Sections(bareLoop())
	if err != nil {
		t.Fatal(err)
	}
	debug := binary.Section{ID: binary.CustomSection, Data: binary.AppendName(nil, ".debug_line")}
	wasm := binary.Join(append([]binary.Section{debug}, sections...))
	rewritten, err := fuel.Rewrite(parse(t, wasm), fuel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, rewritten).Custom; len(got) != 1 || got[0] != "name" {
		t.Errorf("custom sections = %q; want only the name section", got)
	}
}
