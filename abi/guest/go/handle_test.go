package toolrun_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
)

func TestRunSucceeds(t *testing.T) {
	type pair struct{ A, B int }
	h := toolruntest.New(t)
	tests := []struct {
		name string
		run  func() (json.RawMessage, error)
		want string
	}{
		{"a struct", func() (json.RawMessage, error) {
			return toolruntest.Run(h, func(in pair) (int, error) { return in.A + in.B, nil }, pair{1, 2})
		}, `3`},
		{"an unchanged input", func() (json.RawMessage, error) {
			return toolruntest.Run(h, func(in json.RawMessage) (json.RawMessage, error) { return in, nil }, json.RawMessage(`{"n":9007199254740993}`))
		}, `{"n":9007199254740993}`},
		{"nothing", func() (json.RawMessage, error) {
			return toolruntest.Run(h, func(struct{}) (any, error) { return nil, nil }, pair{})
		}, `null`},
		{"a text with HTML", func() (json.RawMessage, error) {
			return toolruntest.Run(h, func(struct{}) (string, error) { return "<b>&</b>\u2028", nil }, pair{})
		}, `"<b>&</b>\u2028"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := tt.run(); err != nil || string(got) != tt.want {
				t.Errorf("Run = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// The type lost is an error whose Error method panics.
type lost struct{}

func (lost) Error() string { panic("again") }

func TestRunFails(t *testing.T) {
	h := toolruntest.New(t)
	h.Fail("hidden", abi.Faultf(abi.AccessDenied, "the tool may not read hidden").WithHint("grant it"))
	hidden := func() error {
		_, err := toolrun.GetContent("hidden", nil)
		return err
	}
	tests := []struct {
		name    string
		tool    func(struct{ N int }) (any, error)
		code    abi.Code
		message string
	}{
		{"an error", func(struct{ N int }) (any, error) { return nil, errors.New("no such colour") }, abi.ToolError, "no such colour"},
		{"a fault of the host", func(struct{ N int }) (any, error) { return nil, hidden() }, abi.AccessDenied, "the tool may not read hidden"},
		{"a wrapped fault", func(struct{ N int }) (any, error) { return nil, fmt.Errorf("look it up: %w", hidden()) }, abi.AccessDenied, "the tool may not read hidden"},
		{"a fault in a panic", func(struct{ N int }) (any, error) { panic(hidden()) }, abi.AccessDenied, "the tool may not read hidden"},
		{"a fault of the tool", func(struct{ N int }) (any, error) { return nil, abi.Faultf(abi.Conflict, "mine") }, abi.ToolError, "conflict: mine"},
		{"an output that is not JSON", func(struct{ N int }) (any, error) { return math.NaN(), nil }, abi.ToolError, "cannot encode the output as JSON: json: unsupported value: NaN"},
		{"a panic", func(struct{ N int }) (any, error) { panic("lost") }, abi.ToolError, "panic: lost"},
		{"a panic of the runtime", func(in struct{ N int }) (any, error) { return []int{}[in.N], nil }, abi.ToolError,
			"panic: runtime error: index out of range [7] with length 0"},
		{"a panic that panics", func(struct{ N int }) (any, error) { panic(lost{}) }, abi.ToolError, "panic: %!v(PANIC=Error method: again)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := toolruntest.Run(h, tt.tool, map[string]int{"N": 7})
			f, ok := err.(*abi.Fault)
			if !ok || f.Code != tt.code || f.Message != tt.message {
				t.Fatalf("Run = %s, %#v; want %s: %s", out, err, tt.code, tt.message)
			}
		})
	}
}

func TestRunRejectsInput(t *testing.T) {
	h := toolruntest.New(t)
	called := false
	_, err := toolruntest.Run(h, func(struct{ N int }) (any, error) { called = true; return nil, nil }, map[string]string{"N": "x"})
	if called || err == nil || !strings.Contains(err.Error(), "cannot decode the input: json: cannot unmarshal string") {
		t.Errorf("Run = %v, called %t; want the reason, and no call", err, called)
	}
}

// TestPositions checks that faults and panics contain the file name and line in the plug-in's
// source, but no path of the build machine.
func TestPositions(t *testing.T) {
	h := toolruntest.New(t)
	h.Fail("hidden", abi.Faultf(abi.AccessDenied, "no"))
	tests := []struct {
		name string
		tool func(struct{}) (any, error)
		line string
	}{
		{"a fault", get, "// line of the fault"},
		{"a panic", paint, "// line of the panic"},
		{"a panic in the standard library", repeat, "// line of the repetition"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := toolruntest.Run(h, tt.tool, struct{}{})
			f, _ := err.(*abi.Fault)
			if f == nil || f.File != "positions_test.go" {
				t.Fatalf("Run = %+v; want a fault in positions_test.go", err)
			}
			if want := lineOf(t, f.File, tt.line); f.Line != want {
				t.Errorf("line = %d; want %d", f.Line, want)
			}
			if at := fmt.Sprintf("positions_test.go:%d)", f.Line); !strings.Contains(f.Stack, at) || strings.Contains(f.Stack, "(/") || strings.Contains(f.Stack, "at runtime.") {
				t.Errorf("stack = %s\nwant %s, base names, and no frames of the runtime", f.Stack, at)
			}
		})
	}
}

func TestNoHost(t *testing.T) {
	if _, err := toolrun.GetContent("prefs", nil); !errors.Is(err, abi.Unavailable) {
		t.Errorf("GetContent without a host = %v; want %s", err, abi.Unavailable)
	}
}

func TestHandleTwice(t *testing.T) {
	toolrun.Handle(paint)
	defer func() {
		if cause := recover(); cause == nil {
			t.Error("Handle twice does not panic")
		}
	}()
	toolrun.Handle(repeat)
}
