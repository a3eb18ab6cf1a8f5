package storagetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// testTags finds the records of one tenant and app by their tags, in pages.
func testTags(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	other := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "other"}, storage.Part{Tag: storage.App, Value: "a"})
	file := storage.MakeKey(storage.Part{Tag: storage.System, Value: "file"}) + app("a", storage.Part{Tag: storage.Item, Value: "f"})
	want := []storage.Record{withTags(record(file, 1, "content"), "user/u")}
	for i := range 10 {
		want = append(want, record(app("a", store(fmt.Sprint("s", i)), user("u")), 1, "x"))
	}
	put(t, b, want...)
	put(t, b, record(app("a", store("s1"), user("uu")), 1, "x"), record(app("b", store("s1"), user("u")), 1, "x"),
		record(other.With(store("s1"), user("u")), 1, "x"), record(app("a", store("s1")), 1, "x"))

	scan := func(what storage.Selector, limit int) (found []storage.Head) {
		for after := storage.Key(""); ; after = found[len(found)-1].Key {
			page, err := b.ScanTag(ctx, what, after, limit)
			must(t, err)
			if found = append(found, page...); len(page) < limit {
				return found
			}
		}
	}
	mine := tagged("a", storage.SubjectTag("u"))
	for _, limit := range []int{1, 3, 11, 100} {
		sameHeads(t, fmt.Sprint("ScanTag with limit ", limit), scan(mine, limit), want)
	}
	stores := mine
	stores.Prefix = app("a")
	sameHeads(t, "ScanTag under a prefix", scan(stores, 4), want[1:])
	if found := scan(tagged("a", "user/"), 4); len(found) > 0 {
		t.Errorf("ScanTag of a prefix of a tag = %v; want no records", found)
	}
	for _, bad := range []storage.Selector{{}, {Prefix: app("a")}, {Tag: "e", Keys: []storage.Key{file}}} {
		if _, err := b.ScanTag(ctx, bad, "", 1); err == nil {
			t.Errorf("ScanTag of %+v succeeded; want an error", bad)
		}
	}
	if _, err := b.ScanTag(ctx, mine, "", 0); err == nil {
		t.Error("ScanTag with limit 0 succeeded; want an error")
	}

	retagged := want[1]
	retagged.Revision, retagged.Tags = 2, []string{"user/u", "e"}
	put(t, b, retagged)
	sameHeads(t, "an added tag", scan(tagged("a", "e"), 10), []storage.Record{retagged})
	want[1] = retagged
	sameHeads(t, "a kept tag", scan(mine, 10), want)
	retagged.Revision, retagged.Tags = 3, []string{"user/u"}
	put(t, b, retagged)
	sameHeads(t, "a removed tag", scan(tagged("a", "e"), 10), nil)
}
