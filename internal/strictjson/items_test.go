package strictjson_test

import (
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/internal/strictjson"
)

// TestItems visits the items of an array until the function "visit" returns false.
func TestItems(t *testing.T) {
	for text, want := range map[string]string{
		` [1, "a,]" ,{"b":[2]},[3,[4]] , null]`: `[1 "a,]" {"b":[2]} [3,[4]] null]`, `[]`: `[]`, `[ ]`: `[]`, `{"a":[1]}`: `[]`, `"[1]"`: `[]`,
	} {
		items := []string{}
		strictjson.Items([]byte(text), func(item []byte) bool { items = append(items, string(item)); return true })
		if got := fmt.Sprint(items); got != want {
			t.Errorf("Items(%s) = %s; want %s", text, got, want)
		}
	}
	visits := 0
	strictjson.Items([]byte(`[1,2,3]`), func([]byte) bool { visits++; return visits < 2 })
	if visits != 2 {
		t.Errorf("Items continues after false: %d visits; want 2", visits)
	}
}
