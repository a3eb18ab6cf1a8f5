package stackguard

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/toolrun/toolrun/internal/wasm/binary"
)

// shape describes a function of a test module: its stack size and its calls.
type shape struct {
	own        int
	byLocal    bool // the function moves the stack pointer by an unknown distance
	calls      []int
	indirect   bool // the function makes an indirect call
	host       bool // it calls the host
	referenced bool // the function is in the table
}

// parsed builds and parses a module with functions of the given shapes. Function 0 is imported.
func parsed(t *testing.T, shapes []shape) *binary.Module {
	t.Helper()
	code := binary.AppendUint32(nil, uint32(len(shapes)))
	types := binary.AppendUint32(nil, uint32(len(shapes)))
	var referenced []byte
	count := 0
	for i, s := range shapes {
		body := []byte{1, 1, 0x7f}
		if s.byLocal {
			body = append(body, globalGet, 0, localGet, 0, i32Sub, globalSet, 0)
		} else if s.own > 0 {
			body = append(binary.AppendInt64(append(body, globalGet, 0, i32Const), int64(s.own)), i32Sub, globalSet, 0)
		}
		for _, called := range s.calls {
			body = binary.AppendUint32(append(body, 0x10), uint32(called+1))
		}
		if s.indirect {
			body = append(body, i32Const, 0, 0x11, 0, 0)
		}
		if s.host {
			body = append(body, 0x10, 0)
		}
		body = append(body, endOp)
		code = append(binary.AppendUint32(code, uint32(len(body))), body...)
		types = append(types, 0)
		if s.referenced {
			referenced = binary.AppendUint32(referenced, uint32(i+1))
			count++
		}
	}
	elements := append(append([]byte{1, 0, i32Const, 0, endOp}, binary.AppendUint32(nil, uint32(count))...), referenced...)
	m, err := binary.Parse(binary.Join([]binary.Section{
		{ID: binary.TypeSection, Data: []byte{1, 0x60, 0, 0}},
		{ID: binary.ImportSection, Data: slices.Concat([]byte{1}, binary.AppendName(nil, "m"), binary.AppendName(nil, "f"), []byte{0, 0})},
		{ID: binary.FunctionSection, Data: types},
		{ID: binary.TableSection, Data: append([]byte{1, 0x70, 0}, binary.AppendUint32(nil, uint32(len(shapes)))...)},
		{ID: binary.GlobalSection, Data: []byte{1, 0x7f, 1, i32Const, 0, endOp}},
		{ID: binary.ElementSection, Data: elements},
		{ID: binary.CodeSection, Data: code},
	}), binary.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPlan(t *testing.T) {
	for name, test := range map[string]struct {
		shapes []shape
		want   []bool
	}{
		"calls nothing":              {[]shape{{own: 16, referenced: true}}, []bool{false}},
		"uses much":                  {[]shape{{own: maxClosedBytes + 1, referenced: true}}, []bool{true}},
		"calls little":               {[]shape{{own: 16, referenced: true, calls: []int{1}}, {own: 16}}, []bool{false, false}},
		"calls itself":               {[]shape{{own: 16, calls: []int{0}}}, []bool{true}},
		"a cycle":                    {[]shape{{own: 16, calls: []int{1}}, {own: 16, calls: []int{0}}}, []bool{true, false}},
		"a cycle without own stack":  {[]shape{{calls: []int{1}}, {own: 16, calls: []int{0}}}, []bool{false, true}},
		"by the table":               {[]shape{{own: 16, referenced: true, indirect: true}, {own: 16, indirect: true}}, []bool{true, false}},
		"by the table, no own stack": {[]shape{{referenced: true, calls: []int{1}}, {own: 16, indirect: true}}, []bool{false, true}},
		"by the host":                {[]shape{{own: 16, referenced: true, host: true}}, []bool{true}},
		"by an unknown distance":     {[]shape{{byLocal: true}}, []bool{true}},
		"callees use much": {
			[]shape{{own: maxUncheckedBytes / 2, calls: []int{1}, host: true}, {own: maxUncheckedBytes / 2, calls: []int{2}, host: true}, {own: 16, host: true}},
			[]bool{true, false, false},
		},
	} {
		p := planOf(parsed(t, test.shapes), 0)
		for i, want := range test.want {
			if p.functions[i].checked != want {
				t.Errorf("%s: checked of function %d = %t", name, i, !want)
			}
		}
	}
}

// TestPlanBounds checks for random call graphs that the stack used between two checks does not
// exceed Slack.
func TestPlanBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		shapes := make([]shape, 1+r.IntN(12))
		for i := range shapes {
			s := &shapes[i]
			s.own = []int{0, 0, 16, 4 << 10, 12 << 10, 60 << 10}[r.IntN(6)]
			for range r.IntN(3) {
				s.calls = append(s.calls, r.IntN(len(shapes)))
			}
			s.indirect, s.host, s.referenced = r.IntN(4) == 0, r.IntN(8) == 0, r.IntN(3) == 0
		}
		if longest := longestUnchecked(shapes, planOf(parsed(t, shapes), 0)); longest > maxUncheckedBytes+maxClosedBytes {
			t.Fatalf("%+v: %d bytes are used without a check", shapes, longest)
		}
	}
}

// longestUnchecked returns the maximum stack size that consecutive calls to unchecked functions
// use.
func longestUnchecked(shapes []shape, p *plan) int {
	var referenced []int
	for i, s := range shapes {
		if s.referenced {
			referenced = append(referenced, i)
		}
	}
	taken := make([]int, len(shapes)) // the maximum up to the end of each function
	for i := range shapes {
		if !p.functions[i].checked {
			taken[i] = shapes[i].own
		}
	}
	longest := 0
	for round := 0; ; round++ {
		before := slices.Clone(taken)
		for i, s := range shapes {
			called := s.calls
			if s.indirect || s.host {
				called = slices.Concat(called, referenced)
			}
			for _, next := range called {
				if !p.functions[next].checked {
					taken[next] = max(taken[next], taken[i]+shapes[next].own)
				}
			}
			longest = max(longest, taken[i])
		}
		if slices.Equal(before, taken) {
			return longest
		}
		if round > len(shapes) { // an unchecked cycle
			return math.MaxInt
		}
	}
}
