package toolruntest_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	toolrun "github.com/toolrun/toolrun/abi/guest/go"
	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
)

func TestSetContent(t *testing.T) {
	tests := []struct {
		name, before, value string
		options             []toolrun.Option
		want                string
	}{
		{"creates", ``, `{"a":{"b":1,"c":null}}`, nil, `{"a":{"b":1}}`},
		{"merges", `{"a":{"b":1},"l":[1,2]}`, `{"a":{"c":2},"l":[3]}`, nil, `{"a":{"b":1,"c":2},"l":[3]}`},
		{"removes", `{"a":1,"b":2}`, `{"a":null}`, nil, `{"b":2}`},
		{"replaces a number with an object", `{"a":1}`, `{"a":{"b":null}}`, nil, `{"a":{}}`},
		{"replaces an object with a list", `{"a":1}`, `[null]`, nil, `[null]`},
		{"keeps literals", `{"a":1.50}`, `{"b":12345678901234567890}`, nil, `{"a":1.50,"b":12345678901234567890}`},
		{"replaces", `{"a":1}`, `{"b":null}`, []toolrun.Option{toolrun.Replace()}, `{"b":null}`},
		{"at a revision", `{"a":1}`, `{"b":2}`, []toolrun.Option{toolrun.IfRevision(1)}, `{"a":1,"b":2}`},
		{"if no record exists", ``, `{"b":2}`, []toolrun.Option{toolrun.IfRevision(0)}, `{"b":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := toolruntest.New(t)
			if tt.before != "" {
				h.Set("s", json.RawMessage(tt.before))
			}
			if _, err := toolrun.SetContent("s", json.RawMessage(tt.value), tt.options...); err != nil {
				t.Fatal(err)
			}
			if got := string(h.Get("s")); got != tt.want {
				t.Errorf("content = %s; want %s", got, tt.want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	h := toolruntest.New(t)
	h.Set("s", map[string]int{"a": 1})
	h.Fail("broken", abi.Faultf(abi.Unavailable, "gone"))
	tests := []struct {
		name string
		call func() error
		want abi.Code
	}{
		{"another revision", func() error { _, err := toolrun.SetContent("s", 1, toolrun.IfRevision(9)); return err }, abi.Conflict},
		{"an existing record", func() error { _, err := toolrun.SetContent("s", 1, toolrun.IfRevision(0)); return err }, abi.Conflict},
		{"null", func() error { _, err := toolrun.SetContent("s", nil); return err }, abi.InvalidArgument},
		{"an unknown option", func() error { _, err := toolrun.Call(abi.DeleteContent, "s", map[string]int{"x": 1}); return err }, abi.InvalidArgument},
		{"a fault set by the test", func() error { _, err := toolrun.DeleteContent("broken"); return err }, abi.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(); !errors.Is(err, tt.want) {
				t.Errorf("the call = %v; want %s", err, tt.want)
			}
		})
	}
	if got := string(h.Get("s")); got != `{"a":1}` {
		t.Errorf("content = %s; want it unchanged", got)
	}
}

func TestRecords(t *testing.T) {
	h := toolruntest.New(t)
	var got struct{ A int }
	if r, err := toolrun.GetRecord("s", &got); err != nil || r.Revision != 0 {
		t.Errorf("GetRecord = %+v, %v; want none", r, err)
	}
	h.Set("s", map[string]int{"a": 3})
	if r, err := toolrun.GetRecord("s", &got); err != nil || r.Revision != 1 || got.A != 3 {
		t.Errorf("GetRecord = %+v, %v, %+v; want revision 1 and 3", r, err, got)
	}
	for _, want := range []bool{true, false} {
		if deleted, err := toolrun.DeleteContent("s"); err != nil || deleted != want {
			t.Errorf("DeleteContent = %t, %v; want %t", deleted, err, want)
		}
	}
}

// TestNewIsEmpty checks that a new host does not contain data of an earlier host.
func TestNewIsEmpty(t *testing.T) {
	for range 2 {
		t.Run("", func(t *testing.T) {
			h := toolruntest.New(t)
			if found, err := toolrun.GetContent("s", new(any)); found || err != nil || h.Changes() != nil || len(h.Logs()) != 0 {
				t.Errorf("found %t, %v, changes %s, logs %v; want an empty host", found, err, h.Changes(), h.Logs())
			}
			toolrun.Infof("seen")
			if err := toolrun.SetContext(t.Name(), 1); err != nil {
				t.Fatal(err)
			}
			if got, want := string(h.Changes()), `{"`+t.Name()+`":1}`; got != want {
				t.Errorf("Changes = %s; want %s", got, want)
			}
			h.Set("s", 1)
		})
	}
}
