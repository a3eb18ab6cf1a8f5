package collection_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/storage"
)

// damage replaces the contents of all entries with invalid contents.
func (f *fixture) damage() {
	f.t.Helper()
	all, err := f.backend.Scan(f.t.Context(), "", "", 1000)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, r := range all {
		if r.Key.Part(storage.Namespace) == "" {
			continue
		}
		err := f.backend.Update(f.t.Context(), storage.Keys(r.Key), func(now []storage.Record) ([]storage.Write, error) {
			next := now[0]
			next.Content = slices.Concat([]byte{1}, next.Content[1:])
			next.Revision++
			return []storage.Write{{Record: next}}, nil
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

// If a search reads a damaged entry, the search fails. The search fails in a small partition and in
// a partition with an index. The fault does not suggest a retry, because a retry would fail too.
func TestDamagedEntry(t *testing.T) {
	for _, entries := range []int{1, 300} {
		f := openWith(t, func(*memory.Config) {})
		for i := range entries {
			f.want(ann, abi.Remember, fmt.Sprintf(`"kb", "coffee %d", {"id": "%[1]d"}`, i), `{"success":true`)
		}
		f.damage()
		for _, args := range []string{`"kb", "coffee"`, `"kb", "coffee", {"mode": "text"}`} {
			_, _, err := f.Do(context.Background(), ann, memory.Operator(), f.operation(abi.Recall, args))
			fault := abi.FaultOf(err)
			if err == nil || fault.Code != abi.Unavailable || fault.Message != "stored data is damaged" || strings.Contains(fault.Hint, "retry") {
				t.Errorf("recall(%s) of %d damaged entries = %v (hint: %s); want a fault about damaged data", args, entries, err, fault.Hint)
			}
		}
		f.want(ann, abi.Remember, `"kb", "tea", {"id": "0"}`, `{"success":true`) // replaces the entry without reading its content
	}
}
