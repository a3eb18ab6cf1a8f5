package bolt

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// TestStats writes ledger entries and records of several tenants, apps and users, and checks their
// number.
func TestStats(t *testing.T) {
	b := openTest(t)
	d := &fakeDisk{free: 7 << 30, total: 100 << 30}
	d.install(b)
	var want Stats
	put := func(content string, parts ...storage.Part) {
		t.Helper()
		key := storage.MakeKey(parts...)
		r := storage.Record{Key: key, Content: []byte(content), Revision: 1}
		err := b.Update(t.Context(), storage.Keys(key), func([]storage.Record) ([]storage.Write, error) { return []storage.Write{{Record: r}}, nil })
		if err != nil {
			t.Fatal(err)
		}
		want.Bytes += storage.SizeOf(r)
		if parts[0].Tag != storage.System {
			want.Records++
		}
	}
	for _, tenant := range []string{"a", "acme", "zz"} {
		for _, app := range []string{"desk", "shop"} {
			at := []storage.Part{{Tag: storage.Tenant, Value: tenant}, {Tag: storage.App, Value: app}}
			put("{}", append(at[:2:2], storage.Part{Tag: storage.Store, Value: "flags"})...)
			for user := range 5 {
				put(`{"a":1}`, append(at[:2:2], storage.Part{Tag: storage.User, Value: fmt.Sprint("user", user)}, storage.Part{Tag: storage.Store, Value: "prefs"})...)
			}
			for _, kind := range []string{storage.Ledger, storage.Metering, "session"} {
				put(`{"x":1}`, append([]storage.Part{{Tag: storage.System, Value: kind}}, append(at[:2:2], storage.Part{Tag: storage.Item, Value: "1"})...)...)
			}
		}
	}
	got := b.Stats()
	want.DiskFree, want.FileBytes, want.LongestWork = 7<<30, got.FileBytes, got.LongestWork
	if got.LongestWork <= 0 {
		t.Errorf("Stats().LongestWork = %v after commits", got.LongestWork)
	}
	if got != want || got.FileBytes < want.Bytes {
		t.Errorf("Stats() = %+v; want %+v", got, want)
	}
	before := want
	put("{}", storage.Part{Tag: storage.Tenant, Value: "new"}, storage.Part{Tag: storage.App, Value: "shop"}, storage.Part{Tag: storage.Store, Value: "flags"})
	if again := b.Stats(); again.Records != before.Records {
		t.Errorf("Stats() in the same second = %+v; want the cached numbers", again)
	}
	d.now = d.now.Add(statsAge + time.Second)
	if later := b.Stats(); later.Records != want.Records || later.Bytes != want.Bytes {
		t.Errorf("Stats() later = %+v; want %d records", later, want.Records)
	}
}
