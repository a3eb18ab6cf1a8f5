package strictjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/toolrun/toolrun/internal/strictjson"
)

func membersOf(text string) (got []string) {
	strictjson.Members([]byte(text), func(name, value []byte) bool {
		got = append(got, fmt.Sprintf("%s=%s", name, value))
		return true
	})
	return got
}

func TestMembers(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`{}`, nil},
		{`[{"a":1}]`, nil},
		{`"{"`, nil},
		{` { "a" : 1 , "b":[1,{"c":"}"}] ,"\u0063":"x\"," , "":null}`, []string{"a=1", `b=[1,{"c":"}"}]`, `c="x\","`, "=null"}},
		{`{"a":-1e5}`, []string{"a=-1e5"}},
		{`{"a":{"b":{}},"c":true}`, []string{`a={"b":{}}`, "c=true"}},
	} {
		if got := membersOf(c.text); !slices.Equal(got, c.want) {
			t.Errorf("Members(%s) = %q; want %q", c.text, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	var got []string
	strictjson.Names([]byte(`{"a" : ["b", {"\u0063":{"d":"e:"}}], "\"f":1}`), func(name []byte) bool {
		got = append(got, string(name))
		return string(name) != `"f`
	})
	if want := []string{"a", "c", "d", `"f`}; !slices.Equal(got, want) {
		t.Errorf("Names = %q; want %q", got, want)
	}
}

// FuzzMembers compares Members with encoding/json.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":[]}, "\u0063" : "\\\""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if strictjson.Check(text, strictjson.Limits{}) != nil {
			return
		}
		want := map[string]json.RawMessage{}
		if strictjson.IsObject(text) {
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		strictjson.Members(text, func(name, value []byte) bool {
			n++
			if w, ok := want[string(name)]; !ok || !bytes.Equal(w, value) {
				t.Errorf("the member %q is %s; want %s", name, value, w)
			}
			return true
		})
		if n != len(want) {
			t.Errorf("there are %d members; want %d", n, len(want))
		}
	})
}
