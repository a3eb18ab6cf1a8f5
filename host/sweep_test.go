package host_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// An open Host frees all that ended more than an hour ago each time it sweeps, and not only a first part.
func TestHostSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		expire(t, b, "old", 2500, time.Now().Add(-2*time.Hour))
		expire(t, b, "young", 1, time.Now())
		h, err := host.Open(t.Context(), host.Options{App: &app.App{ID: "shop"}, Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for _, sweep := range []struct {
			after time.Duration
			left  int
		}{{59 * time.Second, 2501}, {2 * time.Second, 1}, {time.Hour, 0}} {
			time.Sleep(sweep.after)
			synctest.Wait()
			if n := stored(t, b); n != sweep.left {
				t.Errorf("%v later %d records are stored; want %d", sweep.after, n, sweep.left)
			}
		}
	})
}

// expire stores records that expire at a time.
func expire(t *testing.T, b storage.Backend, name string, n int, at time.Time) {
	t.Helper()
	var keys []storage.Key
	var writes []storage.Write
	for i := range n {
		k := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "other"},
			storage.Part{Tag: storage.Store, Value: name}, storage.Part{Tag: storage.Item, Value: fmt.Sprint(i)})
		keys, writes = append(keys, k), append(writes, storage.Write{Record: storage.Record{Key: k, Revision: 1, Expires: at}})
	}
	err := b.Update(t.Context(), storage.Keys(keys...), func([]storage.Record) ([]storage.Write, error) { return writes, nil })
	if err != nil {
		t.Fatal(err)
	}
}

// stored counts the records of stores.
func stored(t *testing.T, b storage.Backend) int {
	t.Helper()
	heads, err := b.Heads(context.Background(), storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}), "", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return len(heads)
}
