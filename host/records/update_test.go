package records_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
)

// quota limits the stored bytes of one tenant. The first call of Reclaim frees some bytes.
type quota struct {
	key          storage.Key
	limit, freed int64
}

func (q *quota) Budget() storage.Budget {
	return storage.Budget{App: storage.Limit{Account: q.key, Max: storage.Usage{Bytes: q.limit}}}
}

func (q *quota) Reclaim(context.Context) bool {
	q.limit, q.freed = q.limit+q.freed, 0
	return true
}

var caller = partition.Caller{Tenant: "acme", User: "ann", Run: "r"}

const app = partition.App("shop")

// open returns a DB. open also returns a counter of the locks that the DB has acquired.
func open(q *quota) (*records.DB, *int) {
	locks := 0
	q.key = app.Group(caller)
	return records.New(records.Config{
		App: app, Backend: mem.New(),
		Quota: func(partition.Caller) txn.Quota { return q },
		Lock: func(context.Context, ...storage.Key) (func(), error) {
			locks++
			return func() { locks += 10 }, nil
		},
	}), &locks
}

// If an update conflicts, the DB repeats the update with the changed record. During the second
// attempt and all later attempts, the update holds a lock. The update releases the lock at the end.
func TestUpdateConflict(t *testing.T) {
	db, locks := open(&quota{limit: 1 << 20})
	key, calls := app.Session(caller), 0
	write := func(now storage.Record, n int) []storage.Write {
		writes, err := db.Write(nil, now, key, n, now.Expires, caller)
		if err != nil {
			t.Fatal(err)
		}
		return writes
	}
	err := db.Update(t.Context(), caller, []storage.Key{key}, func(now []storage.Record) ([]storage.Write, error) {
		if calls++; calls <= 2 {
			err := records.Swap(t.Context(), db.Backend, key, func(now storage.Record) ([]storage.Write, error) {
				return write(now, -calls), nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return write(now[0], calls), nil
	})
	if err != nil || calls != 3 || *locks != 11 {
		t.Fatalf("Update = %v after %d calls, locks %d; want 3 calls, and one lock that was released", err, calls, *locks)
	}
	r, err := db.Get(t.Context(), key)
	if err != nil || r.Revision != 3 || string(r.Content) != "3" {
		t.Errorf("the record is %s in revision %d, %v; want the third write after the two of others", r.Content, r.Revision, err)
	}
}

// If every attempt of an update conflicts, the update fails.
func TestUpdateGivesUp(t *testing.T) {
	db, _ := open(&quota{limit: 1 << 20})
	key := app.Session(caller)
	interfere := func(now storage.Record) ([]storage.Write, error) {
		return db.Write(nil, now, key, 1, now.Expires, caller)
	}
	err := db.Update(t.Context(), caller, []storage.Key{key}, func(now []storage.Record) ([]storage.Write, error) {
		if err := records.Swap(t.Context(), db.Backend, key, interfere); err != nil {
			t.Fatal(err)
		}
		return interfere(now[0])
	})
	if !errors.Is(err, records.ErrChanged) {
		t.Errorf("Update = %v; want ErrChanged", err)
	}
}

// Update and CheckSpace do not exceed the quota. Before Update or CheckSpace fails, it removes
// expired records and tries once more.
func TestUpdateKeepsQuota(t *testing.T) {
	key := app.System(partition.File, caller, storage.Part{Tag: storage.Item, Value: "f1"})
	for _, tt := range []struct {
		name  string
		quota quota
		fits  bool
	}{
		{"space", quota{limit: 1000}, true},
		{"space after a reclaim", quota{limit: 10, freed: 990}, true},
		{"no space", quota{limit: 10, freed: 10}, false},
	} {
		looked, updated := tt.quota, tt.quota
		db, _ := open(&looked)
		if err := db.CheckSpace(t.Context(), caller, 100); (err == nil) != tt.fits || err != nil && !errors.Is(err, abi.QuotaExceeded) {
			t.Errorf("%s: CheckSpace = %v", tt.name, err)
		}
		db, _ = open(&updated)
		err := db.Update(t.Context(), caller, []storage.Key{key}, func(now []storage.Record) ([]storage.Write, error) {
			return db.Write(nil, now[0], key, make([]byte, 75), now[0].Expires, caller) // 100 bytes of Base64
		})
		if (err == nil) != tt.fits || err != nil && !errors.Is(err, abi.QuotaExceeded) {
			t.Errorf("%s: Update = %v", tt.name, err)
		}
		if r, err := db.Get(t.Context(), key); err != nil || r.Exists() != tt.fits {
			t.Errorf("%s: record exists = %t, %v", tt.name, r.Exists(), err)
		}
	}
}
