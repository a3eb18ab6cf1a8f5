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

// spent runs the function "run" of a guest and returns how much fuel it spent and how often it asked for more.
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
		if left >= 0 {
			t.Errorf("yield was called with %d left", left)
		}
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

func TestCosts(t *testing.T) {
	const turns = 10_000_000
	build := func(code ...[]byte) []byte {
		g := &guest{}
		g.add("run", i32, nil, nil, cat(code...))
		return g.bytes()
	}
	called := &guest{}
	called.add("leaf", nil, nil, nil)
	called.add("caller", nil, nil, nil, call(0))
	called.add("run", i32, nil, nil, countdown(0, call(1)))
	for _, c := range []struct {
		name string
		wasm []byte
		n    int64 // turns
		each int64 // units for a turn
	}{
		{"a short loop", build(countdown(0)), turns, 1},
		{"a long loop", build(countdown(0, repeat(64*7, op(0x01)))), turns / 10, 8},
		{"a call of a function that calls", called.bytes(), turns / 2, 2},
		{"a fill", build(countdown(0, num(0), num(0), num(6400), fill())), turns / 100, 101},
		{"a copy", build(countdown(0, num(0), num(0), num(640), copyMemory())), turns / 10, 11},
	} {
		units, yields := spent(t, c.wasm, uint64(c.n))
		// What is left of the last slice is not known, and a yield may repeat the turn that it interrupts.
		if low, high := c.n*c.each-fuel.Slice, c.n*c.each+2*yields*c.each; units < low || units > high || yields < 2 {
			t.Errorf("%d times %s cost %d units; want %d to %d", c.n, c.name, units, low, high)
		}
	}
}

// TestStackTrace compares the whole text of a trap: the names of functions are still theirs.
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
		t.Errorf("the trap says:\n%s\nwant:\n%s", fuelled, plain)
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

func TestImportedByTheNamesGiven(t *testing.T) {
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

func TestRefusesTheHostsImports(t *testing.T) {
	g := &guest{imports: []binary.Import{{Module: "toolrun:fuel", Name: "yield"}}}
	g.typ(nil, nil)
	g.add("run", nil, nil, nil)
	if _, err := fuel.Rewrite(parse(t, g.bytes()), fuel.Options{}); err == nil {
		t.Error("a module that imports yield itself was rewritten")
	}
	if _, err := fuel.Rewrite(parse(t, g.bytes()), fuel.Options{Module: "other"}); err != nil {
		t.Errorf("Rewrite: %v", err)
	}
}

// TestCounterIsOutOfReach names the global that the counter would become.
func TestCounterIsOutOfReach(t *testing.T) {
	g := &guest{}
	g.add("run", nil, nil, nil, loop([]byte{0x42, 0, 0x24, 0}, br(0)))
	if _, err := binary.Parse(g.bytes(), binary.Limits{}); err == nil {
		t.Error("a module that writes to a global which it does not have was accepted")
	}
}

func TestWithoutCodeNothingChanges(t *testing.T) {
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
		t.Errorf("custom sections = %q; want the names alone", got)
	}
}
