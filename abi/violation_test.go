package abi_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
)

func TestViolationString(t *testing.T) {
	tests := []struct{ pointer, keyword, limit, want string }{
		{"/page", "type", `"string"`, `/page: must be of type "string"`},
		{"/page", "type", `["string","null"]`, `/page: must be of type "string" or "null"`},
		{"", "type", `"object"`, `/: must be of type "object"`},
		{"/a", "enum", `["x","y"]`, `/a: must be one of ["x","y"]`},
		{"/a", "enum", ``, `/a: must be one of the values that the schema lists`},
		{"/a", "const", `false`, `/a: must be false`},
		{"/a", "const", `true`, `/a: must be true`},
		{"/a", "minLength", `1`, `/a: must have at least 1 character`},
		{"/a", "maxLength", `80`, `/a: must have at most 80 characters`},
		{"/a", "pattern", `"^[a-z]%d$"`, `/a: must match the pattern "^[a-z]%d$"`},
		{"/a", "format", `"email"`, `/a: must have the format "email"`},
		{"/a", "minimum", `0`, `/a: must be at least 0`},
		{"/a", "exclusiveMinimum", `1`, `/a: must be more than 1`},
		{"/a", "exclusiveMaximum", `true`, `/a: must be less than the maximum`}, // draft 4
		{"/a", "maxItems", `1`, `/a: must have at most 1 item`},
		{"/a", "uniqueItems", `true`, `/a: must not contain duplicate items`},
		{"/a", "contains", `false`, `/a: must have an item that matches the contains schema`},
		{"/a", "anyOf", `[{"type":"string"}]`, `/a: must match at least one of the anyOf schemas`},
		{"/a/b", "required", `["b"]`, `/a/b: is required`},
		{"/b", "dependencies", `{"a":["b"]}`, `/b: is required if another property is present`},
		{"", "dependencies", `false`, `/: is not allowed`},
		{"/b", "additionalProperties", `false`, `/b: is not a property that the schema declares`},
		{"/b", "properties", `false`, `/b: is not allowed`},
		{"", "maxDepth", `64`, `/: is nested deeper than 64 levels`},
		{"/a", "somethingNew", `7`, `/a: does not fit somethingNew`},
	}
	for _, tt := range tests {
		v := abi.Violation{Pointer: tt.pointer, Keyword: tt.keyword, Limit: json.RawMessage(tt.limit)}
		if got := v.String(); got != tt.want {
			t.Errorf("%s %s at %q = %s; want %s", tt.keyword, tt.limit, tt.pointer, got, tt.want)
		}
	}
}

func ExampleSummary() {
	fmt.Println(abi.Summary([]abi.Violation{
		{Pointer: "/page", Keyword: "type", Limit: json.RawMessage(`"string"`)},
		{Pointer: "/user/name", Keyword: "required", Limit: json.RawMessage(`["name"]`)},
	}))
	// Output: /page: must be of type "string"; /user/name: is required
}
