package snapshot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolrun/toolrun/internal/wasm/binary"
	"github.com/toolrun/toolrun/internal/wasm/snapshot"
)

func rewrite(wasm []byte) (*snapshot.Module, error) {
	parsed, err := binary.Parse(wasm, binary.Limits{})
	if err != nil {
		return nil, err
	}
	return snapshot.Rewrite(parsed)
}

func TestRewriteRejects(t *testing.T) {
	element := section(binary.ElementSection, []byte{1, 0, 1, 0}) // a passive element segment with function 0
	data := section(binary.DataSection, join([]byte{1}, name("later")))
	for _, test := range []struct {
		name, want string
		wasm       []byte
	}{
		{"no memory", "no memory", module(types)},
		{"imported memory", "imports the memory", module(types, section(binary.ImportSection, join(name("a"), name("b"), []byte{2, 0, 1})))},
		{"imported global", "imports the global", with(section(binary.ImportSection, join(name("a"), name("b"), []byte{3, 0x7f, 0})))},
		{"imported table", "imports the table", with(section(binary.ImportSection, join(name("a"), name("b"), []byte{1, 0x70, 0, 1})))},
		{"global with a reference", "has type funcref", with(section(binary.GlobalSection, []byte{0x70, 1, 0xd0, 0x70, 0x0b}))},
		{"global with a vector", "has type v128", with(section(binary.GlobalSection, join([]byte{0x7b, 1, 0xfd, 0x0c}, make([]byte, 16), []byte{0x0b})))},
		{"reserved export", "reserved name", with(section(binary.ExportSection, join(name("toolrun:start"), []byte{0, 0})))},
		{"table.set", "changes a table", with(section(binary.CodeSection, body(0x41, 0, 0xd0, 0x70, 0x26, 0)))},
		{"table.grow", "changes a table", with(section(binary.CodeSection, body(0xd0, 0x70, 0x41, 0, 0xfc, 0x0f, 0, 0x1a)))},
		{"table.fill", "changes a table", with(section(binary.CodeSection, body(0x41, 0, 0xd0, 0x70, 0x41, 0, 0xfc, 0x11, 0)))},
		{"table.copy", "changes a table", with(section(binary.CodeSection, body(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 0x0e, 0, 0)))},
		{"table.init", "changes a table", with(element, section(binary.CodeSection, body(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 0x0c, 0, 0)))},
		{"elem.drop", "changes a table", with(element, section(binary.CodeSection, body(0xfc, 0x0d, 0)))},
		{"passive data", "is passive", with(data)},
		{"data beyond the memory", "outside the memory", with(section(binary.DataSection, join([]byte{0, 0x41, 0xff, 0xff, 3, 0x0b}, name("xy"))))},
		{"data at a negative offset", "outside the memory", with(section(binary.DataSection, join([]byte{0, 0x41, 0x7f, 0x0b}, name("x"))))},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := rewrite(test.wasm)
			if !errors.Is(err, snapshot.ErrUnsupported) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Rewrite = %v; want an ErrUnsupported with %q", err, test.want)
			}
		})
	}
}

// TestRewriteDataCount checks that Rewrite keeps the data count section if instructions refer to
// data segments. Without the section, the module would not compile.
func TestRewriteDataCount(t *testing.T) {
	wasm := with(
		binary.Section{ID: binary.DataCountSection, Data: []byte{1}},
		section(binary.DataSection, join([]byte{0, 0x41, 3, 0x0b}, name("x"))),
		section(binary.CodeSection, body(0xfc, 0x09, 0, 0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 0x08, 0, 0)), // data.drop and memory.init
	)
	r := newRuntime(t)
	in := restore(t, load(t, r, wasm, snapshot.Options{}))
	defer closeInstance(t, in)
	if got, _ := in.Guest().Memory().Read(0, 5); string(got) != "\x00\x00\x00x\x00" {
		t.Errorf("memory = %q; want data at 3", got)
	}
}

func TestRewriteKeepsItsInput(t *testing.T) {
	before := string(counter)
	if _, err := rewrite(counter); err != nil {
		t.Fatal(err)
	}
	if string(counter) != before {
		t.Error("Rewrite changed its input")
	}
}

// FuzzRewrite checks that Rewrite either rewrites or rejects any valid module. If the original
// module compiles, the rewritten module must also compile.
func FuzzRewrite(f *testing.F) {
	f.Add(counter)
	f.Add(asking)
	f.Add(with(binary.Section{ID: binary.DataCountSection, Data: []byte{1}}, section(binary.DataSection, join([]byte{0, 0x41, 3, 0x0b}, name("x")))))
	f.Add(with(section(binary.DataSection, join([]byte{2, 0, 0x41, 3, 0x0b}, name("x"))), section(binary.ExportSection)))
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { r.Close(ctx) })
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := rewrite(wasm)
		if err != nil {
			return
		}
		before, err := r.CompileModule(ctx, wasm)
		if err != nil {
			return
		}
		defer before.Close(ctx)
		after, err := r.CompileModule(ctx, m.Binary)
		if err != nil {
			t.Fatalf("the rewritten module does not compile: %v", err)
		}
		after.Close(ctx)
	})
}
