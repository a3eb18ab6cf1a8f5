package index_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/search/index"
	"github.com/toolrun/toolrun/internal/strictjson"
)

func TestFilterMatches(t *testing.T) {
	for _, c := range []struct {
		filter, metadata string
		want             bool
	}{
		{``, `{}`, true},
		{`null`, `{}`, true},
		{`{}`, `{"a": 1}`, true},
		{`{"a": 1}`, `{"a": 1.0}`, true},
		{`{"a": 1}`, `{"a": 10e-1}`, true},
		{`{"a": 0}`, `{"a": -0}`, true},
		{`{"a": 1}`, `{"a": "1"}`, false},
		{`{"a": "1"}`, `{"a": 1}`, false},
		{`{"a": 1}`, `{"a": true}`, false},
		{`{"a": false}`, `{"a": 0}`, false},
		{`{"a": false}`, `{"a": false}`, true},
		{`{"a": null}`, `{"a": null}`, true},
		{`{"a": null}`, `{}`, false},
		{`{"a": ""}`, `{"a": null}`, false},
		{`{"a": "x"}`, `{"a": ["x"]}`, false},
		{`{"a": "x"}`, `{"a": {"in": "x"}}`, false},
		{`{"a": "x", "b": 2}`, `{"a": "x", "b": 2, "c": 3}`, true},
		{`{"a": "x", "b": 2}`, `{"a": "x"}`, false},
		{`{"a": 9007199254740993}`, `{"a": 9007199254740992}`, false},
		{`{"a": 100000000000000000000}`, `{"a": 1e20}`, true},
		{`{"a": {"gte": 9007199254740993}}`, `{"a": 9007199254740992}`, false},
		{`{"a": {"gte": 9007199254740993}}`, `{"a": 9007199254740994}`, true},
		{`{"a": {"in": [1, "x", null]}}`, `{"a": "x"}`, true},
		{`{"a": {"in": [1, "x", null]}}`, `{"a": null}`, true},
		{`{"a": {"in": [1, "x"]}}`, `{"a": 2}`, false},
		{`{"a": {"in": []}}`, `{"a": 2}`, false},
		{`{"a": {"gte": 2}}`, `{"a": 2}`, true},
		{`{"a": {"gte": 2}}`, `{"a": 1.5}`, false},
		{`{"a": {"gte": 2, "lte": 3}}`, `{"a": 3}`, true},
		{`{"a": {"gte": 2, "lte": 3}}`, `{"a": 3.5}`, false},
		{`{"a": {"lte": 3}}`, `{"a": "2"}`, false},
		{`{"a": {"gte": "2026-01", "lte": "2026-02"}}`, `{"a": "2026-01-31"}`, true},
		{`{"a": {"gte": "2026-01"}}`, `{"a": "2025"}`, false},
		{`{"a.b": 1}`, `{"a.b": 1}`, true},
		{`{"a.b": 1}`, `{"a": {"b": 1}}`, false},
	} {
		metadata, err := strictjson.Decode([]byte(c.metadata), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := filter(t, c.filter).Matches(metadata.(map[string]any)); got != c.want {
			t.Errorf("filter %s matches %s = %v; want %v", c.filter, c.metadata, got, c.want)
		}
		var plain map[string]any
		if err := json.Unmarshal([]byte(c.metadata), &plain); err != nil {
			t.Fatal(err)
		}
		if got := filter(t, c.filter).Matches(plain); got != c.want && !strings.Contains(c.metadata, "9007") {
			t.Errorf("filter %s matches %s with float64 = %v; want %v", c.filter, c.metadata, got, c.want)
		}
	}
}

func TestFilterFaults(t *testing.T) {
	long, _ := json.Marshal(map[string]any{"a": map[string]any{"in": make([]int, index.MaxFilterValues+1)}})
	for _, c := range []struct {
		filter string
		code   abi.Code
		text   string
	}{
		{`[]`, abi.InvalidArgument, "must be an object"},
		{`3`, abi.InvalidArgument, "must be an object"},
		{`{"a": `, abi.InvalidArgument, "not valid JSON"},
		{`{"a": 1, "a": 2}`, abi.InvalidArgument, "not valid JSON"},
		{`{"a": [1]}`, abi.InvalidArgument, `compares "a" with an array`},
		{`{"a": {}}`, abi.InvalidArgument, "without an operator"},
		{`{"a": {"b": 1}}`, abi.InvalidArgument, `unknown operator "b"`},
		{`{"a%d": {"b": 1}}`, abi.InvalidArgument, `"a%d" has the unknown operator`},
		{`{"a": {"gt": 1}}`, abi.InvalidArgument, `unknown operator "gt"`},
		{`{"a": {"in": 1}}`, abi.InvalidArgument, "needs an array"},
		{`{"a": {"in": [[1]]}}`, abi.InvalidArgument, "only scalars"},
		{`{"a": {"gte": true}}`, abi.InvalidArgument, "needs a number or a string"},
		{`{"a": {"gte": null}}`, abi.InvalidArgument, "needs a number or a string"},
		{`{"a": {"gte": 1, "lte": "2"}}`, abi.InvalidArgument, "a number and a string"},
		{`{"a": {"in": [1], "lte": 2}}`, abi.InvalidArgument, `combines "in"`},
		{string(long), abi.TooLarge, "lists 1001 values"},
		{`{"a": "` + strings.Repeat("x", index.MaxFilterBytes) + `"}`, abi.TooLarge, "the limit is 65536"},
	} {
		_, err := index.ParseFilter([]byte(c.filter))
		if !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("ParseFilter(%.40s) = %v; want %s with %q", c.filter, err, c.code, c.text)
		}
	}
}

// FuzzParseFilter checks that ParseFilter returns either a fault or a usable filter.
func FuzzParseFilter(f *testing.F) {
	for _, seed := range []string{`{"a": 1}`, `{"a": {"in": [1, "x", null, true]}}`, `{"a": {"gte": 1, "lte": 1e20}}`, `{"a": {"gte": "x"}}`, `[`} {
		f.Add([]byte(seed), []byte(`{"a": 1e20}`))
	}
	f.Fuzz(func(t *testing.T, text, metadata []byte) {
		filter, err := index.ParseFilter(text)
		if err != nil {
			if !errors.Is(err, abi.InvalidArgument) && !errors.Is(err, abi.TooLarge) {
				t.Fatalf("ParseFilter = %v; want a fault", err)
			}
			return
		}
		value, err := strictjson.Decode(metadata, strictjson.Limits{})
		if object, ok := value.(map[string]any); err == nil && ok {
			filter.Matches(object)
		}
	})
}
