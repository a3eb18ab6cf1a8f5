package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// testUserUsage stores records with the tag of a user. Under any key, a record with the tag must
// count toward the usage of the user. If the tag changes, the record must count toward the usage of
// the new user.
func testUserUsage(t *testing.T, b storage.Backend) {
	group := app("a")
	ann, bob := storage.UserAccount(group, "ann"), storage.UserAccount(group, "bob")
	session := storage.Part{Tag: storage.Session, Value: "s1"}
	own := record(group.With(user("ann"), store("s")), 1, "1234")
	shared := record(group.With(store("s")), 1, "12")
	file := record(storage.MakeKey(storage.Part{Tag: storage.System, Value: "file"})+group.With(session), 1, "12345678")
	put(t, b, own, shared, file)
	checkUsage(t, b, group, ann, bob)

	file.Revision, file.Tags = 2, []string{storage.SubjectTag("ann")}
	put(t, b, file)
	checkUsage(t, b, group, ann, bob)

	file.Revision, file.Tags, file.Content = 3, []string{storage.SubjectTag("bob")}, []byte("1")
	put(t, b, file)
	checkUsage(t, b, group, ann, bob)
	if removed, err := b.DeleteWhere(context.Background(), storage.Selector{Group: group, Tag: storage.SubjectTag("bob"), Prefix: file.Key}, 10); len(removed) != 1 || err != nil {
		t.Errorf("DeleteWhere of bob's record = %v, %v; want one record", removed, err)
	}
	checkUsage(t, b, group, ann, bob)
}

// testUsageAfterRemovals checks that each removed record is subtracted from the usage exactly once.
// The test covers each kind of removal and concurrent removals.
func testUsageAfterRemovals(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	ann := storage.UserAccount(app("a"), "ann")
	for round := range 5 {
		var records []storage.Record
		for i := range 30 {
			r := record(app("a", store("s"), user("ann"), storage.Part{Tag: storage.Item, Value: fmt.Sprint(i)}), 1, "content")
			r.Expires = epoch
			records = append(records, withTags(r, "session/s1"))
		}
		put(t, b, records...)
		put(t, b, record(app("a", store("kept"), user("ann")), 1, strings.Repeat("x", round)))
		checkUsage(t, b, app("a"), ann)
		ways := []storage.Selector{
			{Expired: epoch.Add(time.Second)}, {Prefix: app("a", store("s"))}, tagged("a", "session/s1"), {Keys: []storage.Key{records[3].Key, records[4].Key}},
			{Expired: epoch.Add(time.Second), Group: app("a")},
		}
		var count atomic.Int64
		together(len(ways)+1, func(i int) {
			if i == len(ways) {
				k := records[5].Key
				err := b.Update(ctx, storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
					return []storage.Write{{Record: storage.Record{Key: k}, Delete: true}}, nil
				})
				if err != nil {
					t.Error(err)
				}
				return
			}
			removed, err := b.DeleteWhere(ctx, ways[i], 100)
			if err != nil {
				t.Error(err)
			}
			count.Add(int64(len(removed)))
		})
		if n := count.Load(); n != 30 && n != 29 {
			t.Errorf("%d records were removed; want 30, or 29 plus the record that an update deleted", n)
		}
		checkUsage(t, b, app("a"), ann)
		if held := usage(t, b, ann)[0]; held.Records != 1 {
			t.Errorf("after all removals the usage is %d records; want 1", held.Records)
		}
	}
}

// testAccounts requests the usage of accounts. The requested lists have different orders, contain
// unknown accounts, or are empty.
func testAccounts(t *testing.T, b storage.Backend) {
	one, two := record(app("a", store("s")), 1, "12"), record(app("b", store("s"), user("ann")), 1, "1234")
	put(t, b, one, two)
	size := func(r storage.Record) storage.Usage { return storage.Usage{Records: 1, Bytes: storage.SizeOf(r)} }
	got := usage(t, b, storage.UserAccount(app("b"), "ann"), app("none"), app("a"), app("b"), app("a"))
	if want := []storage.Usage{size(two), {}, size(one), size(two), size(one)}; !slices.Equal(got, want) {
		t.Errorf("Usage = %+v; want %+v", got, want)
	}
	if none := usage(t, b); len(none) != 0 {
		t.Errorf("Usage() = %v; want nothing", none)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Usage(ctx, app("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("Usage with a canceled context = %v; want context.Canceled", err)
	}
}
