package storage_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// TestGrowth adds up usage changes, once for a few accounts and once for many accounts. Some of the
// changes cancel each other out.
func TestGrowth(t *testing.T) {
	group := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"})
	for _, users := range []int{1, 3, 4, 50} {
		want := map[storage.Key]storage.Usage{}
		var changes []storage.Change
		for i := range users {
			account := storage.UserAccount(group, fmt.Sprint("u", i))
			k := account.With(storage.Part{Tag: storage.Item, Value: "x"})
			old := storage.Record{Key: k, Revision: 1, Content: []byte("12345")}
			put := storage.Change{Write: storage.Write{Record: storage.Record{Key: k, Revision: 2, Content: []byte("123456789")}}}
			switch i % 3 {
			case 0:
				want[account] = storage.Usage{Records: 1, Bytes: int64(len(k)) + 9}
			case 1:
				put.Old = storage.HeadOf(old)
				want[account] = storage.Usage{Bytes: 4}
			case 2: // created and removed
				changes = append(changes, storage.Removal(storage.HeadOf(put.Record)))
			}
			want[group] = want[group].Plus(want[account])
			changes = append(changes, put)
		}
		maps.DeleteFunc(want, func(_ storage.Key, u storage.Usage) bool { return u == storage.Usage{} })
		growth := storage.GrowthOf(changes)
		if got := maps.Collect(growth.All()); !maps.Equal(got, want) {
			t.Errorf("%d users: Growth = %v; want %v", users, got, want)
		}
		for account, u := range want {
			if got := growth.Of(account); got != u {
				t.Errorf("%d users: Growth of %s = %v; want %v", users, account, got, u)
			}
		}
		if got := growth.AppBytes(); got != want[group].Bytes {
			t.Errorf("%d users: AppBytes = %d; want %d", users, got, want[group].Bytes)
		}
	}
}

// TestGrowthOfLedger checks that ledger entries do not count toward the app's bytes.
func TestGrowthOfLedger(t *testing.T) {
	k := storage.MakeKey(storage.Part{Tag: storage.System, Value: storage.Ledger}, storage.Part{Tag: storage.Tenant, Value: "acme"},
		storage.Part{Tag: storage.App, Value: "shop"}, storage.Part{Tag: storage.Item, Value: "r1"})
	growth := storage.GrowthOf([]storage.Change{{Write: storage.Write{Record: storage.Record{Key: k, Revision: 1}}}})
	if got := growth.AppBytes(); got != 0 {
		t.Errorf("AppBytes = %d; want 0", got)
	}
}
