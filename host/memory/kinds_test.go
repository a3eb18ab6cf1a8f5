package memory_test

import (
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
)

// TestCheckStrict checks that mistakes in the schema of a strict store are rejected. Defaults that
// do not match the schema are accepted, because generated schemas contain such defaults.
func TestCheckStrict(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		strict       bool
		want         abi.Code
	}{
		{"a default", `{"properties": {"a": {"type": "string", "default": null}}}`, true, ""},
		{"an unknown keyword", `{"propertys": {"a": true}}`, true, abi.InvalidArgument},
		{"both", `{"propertys": {"a": true}, "properties": {"a": {"type": "string", "default": 1}}}`, true, abi.InvalidArgument},
		{"not strict", `{"propertys": {"a": true}}`, false, ""},
	} {
		err := memory.CheckStrict(declare.Store{Name: "prefs", Access: declare.ScopeUser, Strict: tt.strict, Schema: []byte(tt.schema)})
		if f, ok := errors.AsType[*abi.Fault](err); (err != nil) != (tt.want != "") || ok && f.Code != tt.want {
			t.Errorf("%s: CheckStrict = %v; want %q", tt.name, err, tt.want)
		}
	}
}
