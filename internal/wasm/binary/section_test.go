package binary_test

import (
	"bytes"
	stdbinary "encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// Example parses a module and writes it without its start section and its data.
func Example() {
	wasm := []byte(head + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + section(5, "\x01\x00\x01") +
		section(7, "\x01\x04main\x00\x00") + section(8, "\x00") + section(10, "\x01\x02\x00\x0b") +
		section(11, "\x01\x00\x41\x10\x0b\x05hello"))

	m, err := binary.Parse(wasm, binary.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Exports[0].Kind, m.Exports[0].Name, m.FuncType(m.Exports[0].Index))
	fmt.Printf("%q at %d\n", m.Data[0].Data, m.Data[0].Offset.Number)

	var kept []binary.Section
	for _, s := range m.Sections {
		if s.ID != binary.StartSection && s.ID != binary.DataSection {
			kept = append(kept, s)
		}
	}
	fmt.Println(len(wasm), "bytes,", len(binary.Join(kept)), "without start and data")
	// Output:
	// function main () -> ()
	// "hello" at 16
	// 55 bytes, 39 without start and data
}

func ExampleParse_component() {
	_, err := binary.Parse([]byte("\x00asm\x0d\x00\x01\x00"), binary.Limits{})
	if e, ok := errors.AsType[*binary.Error](err); ok && e.Kind == binary.Component {
		fmt.Println(e.Message)
	}
	// Output: the file is a component; build a core module (a reactor, without wasm-component-ld or "wasm-tools component new")
}

func TestInsertKeepsTheOrder(t *testing.T) {
	ids := func(sections []binary.Section) (out []byte) {
		for _, s := range sections {
			out = append(out, s.ID)
		}
		return out
	}
	var sections []binary.Section
	for _, id := range []byte{10, 1, 12, 3, 11, 9, 7, 10} {
		sections = binary.Insert(sections, binary.Section{ID: id})
	}
	if got, want := ids(sections), []byte{1, 3, 7, 9, 12, 10, 11}; !bytes.Equal(got, want) {
		t.Errorf("order = %v; want %v", got, want)
	}
	wasm := binary.Join(append([]binary.Section{{ID: 0, Data: []byte("\x01n")}}, sections[:2]...))
	again, err := binary.Sections(wasm)
	if err != nil || !bytes.Equal(ids(again), []byte{0, 1, 3}) || again[0].Offset != 10 {
		t.Errorf("Sections = %+v, %v", again, err)
	}
}

func TestVector(t *testing.T) {
	data := binary.AppendVector(nil, 300, []byte("ab"), []byte("c"))
	n, entries, err := binary.Vector(data)
	if n != 300 || string(entries) != "abc" || err != nil {
		t.Errorf("Vector = %d, %q, %v; want 300, abc", n, entries, err)
	}
	if _, _, err := binary.Vector([]byte{0x80}); err == nil {
		t.Error("Vector accepted data without a count")
	}
}

// TestNumbers checks that the encoding equals the encoding of the standard library.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		v := random.Uint32() >> random.IntN(32)
		data := binary.AppendUint32(nil, v)
		if want := stdbinary.AppendUvarint(nil, uint64(v)); !bytes.Equal(data, want) {
			t.Fatalf("AppendUint32(%d) = %x; want %x", v, data, want)
		}
		if got, n := binary.Uint32(append(data, 0xff)); got != v || n != len(data) {
			t.Fatalf("Uint32(%x) = %d of %d bytes; want %d of %d", data, got, n, v, len(data))
		}
		if _, n := binary.Uint32(data[:len(data)-1]); n != 0 {
			t.Fatalf("Uint32(%x) returned the size %d; want 0", data[:len(data)-1], n)
		}
	}
}

// TestSignedNumbers reads constants just inside and outside the range of their types.
func TestSignedNumbers(t *testing.T) {
	for _, c := range []struct {
		op   byte
		v    int64
		fits bool
	}{
		{0x41, math.MinInt32, true}, {0x41, math.MaxInt32, true}, {0x41, -1, true}, {0x41, 64, true}, {0x41, -65, true},
		{0x41, math.MinInt32 - 1, false}, {0x41, math.MaxInt32 + 1, false}, {0x41, math.MaxInt64, false},
		{0x42, math.MinInt64, true}, {0x42, math.MaxInt64, true}, {0x42, math.MaxInt32 + 1, true},
	} {
		code := binary.AppendInt64([]byte{0, c.op}, c.v)
		_, err := binary.Parse([]byte(function(string(append(code, 0x1a, 0x0b)))), binary.Limits{})
		if (err == nil) != c.fits {
			t.Errorf("constant %d of instruction %#x: Parse = %v; want success: %v", c.v, c.op, err, c.fits)
		}
	}
	for _, code := range []string{"\x41\xff\xff\xff\xff\x4f", "\x41\x80\x80\x80\x80\x80\x00", "\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"} {
		if _, err := binary.Parse([]byte(function("\x00"+code+"\x1a\x0b")), binary.Limits{}); err == nil {
			t.Errorf("Parse accepted the constant %x", code)
		}
	}
}

// TestConstants checks the offset of a data segment.
func TestConstants(t *testing.T) {
	const imported = "\x01\x01m\x01g\x03\x7f\x00"
	for _, c := range []struct {
		code             string
		isNumber, global bool
		number           int64
	}{
		{"\x41\x7f\x0b", true, false, -1},
		{"\x41\x80\x80\x04\x0b", true, false, 65536},
		{"\x23\x00\x0b", false, true, 0},
		{"\x42\x07\x0b", false, false, 0},
		{"\x41\x07\x41\x07\x0b", false, false, 0},
		{"\x0b", false, false, 0},
	} {
		m, err := binary.Parse([]byte(head+section(2, imported)+section(5, "\x01\x00\x01")+section(11, "\x01\x00"+c.code+"\x00")), binary.Limits{})
		if err != nil {
			t.Errorf("%x: Parse: %v", c.code, err)
			continue
		}
		got := m.Data[0].Offset
		if got.IsNumber != c.isNumber || got.IsGlobal != c.global || c.isNumber && got.Number != c.number || string(got.Code) != c.code {
			t.Errorf("%x: %+v; want number %v %d, global %v", c.code, got, c.isNumber, c.number, c.global)
		}
	}
}
