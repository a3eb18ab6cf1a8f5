package collection_test

import (
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/search/index"
)

// If a user is erased, all indexes that can contain words of the user are removed from memory. This
// includes indexes with words of entries that were forgotten before the erasure. The erasure does
// not remove indexes of other users. The erasure also does not remove indexes of collections whose
// entries are never erased.
func TestErasureEvictsIndexes(t *testing.T) {
	for _, tt := range []struct {
		collection, options, owner string
		kept                       bool
	}{
		{"notes", `{}`, "ann", false},
		{"notes", `{}`, "bob", true},
		{"tips", `{}`, "bob", false},
		{"auto", `{"namespace": "n"}`, "ann", false},
		{"auto", `{"namespace": "n"}`, "bob", true},
		{"auto", `{}`, "bob", false},
		{"kb", `{}`, "bob", true},
	} {
		t.Run(fmt.Sprintf("%s %s of %s", tt.collection, tt.options, tt.owner), func(t *testing.T) {
			f := open(t)
			shared := index.New(f.backend, index.Options{})
			f.reopen(func(c *memory.Config) { c.Index = shared })
			name, owner := `"`+tt.collection+`"`, as(tt.owner)
			for i := range 300 {
				f.want(owner, abi.Remember, fmt.Sprintf(`%s, "tea %d", %s`, name, i, tt.options), `{"success":true`)
			}
			f.want(ann, abi.Remember, `"tips", "secret", {"id": "1"}`, `{"success":true`)
			f.call(owner, abi.Recall, name+`, "tea", `+tt.options)
			f.want(ann, abi.Forget, `"tips", {"id": "1"}`, `{"count":1`)
			f.call(owner, abi.Recall, name+`, "tea", `+tt.options)
			if shared.Bytes() == 0 {
				t.Fatal("the namespace has no index")
			}
			if _, err := f.Erase(t.Context(), ann); err != nil {
				t.Fatal(err)
			}
			if kept := shared.Bytes() > 0; kept != tt.kept {
				t.Errorf("after the erasure of ann, the index is kept: %t; want %t", kept, tt.kept)
			}
		})
	}
}
