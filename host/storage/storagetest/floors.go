package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// testFloors checks that a floor contains the highest revision of its key that was ever removed.
// Every kind of removal must raise the floor. A request in a commit must see the floors that
// earlier requests of the same commit have raised.
func testFloors(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	k := app("a", user("ann"), store("s"))
	floor := storage.FloorKey(k)
	remove := func(keys ...storage.Key) {
		must(t, b.Update(ctx, storage.Keys(keys...), func([]storage.Record) (writes []storage.Write, _ error) {
			for _, k := range keys {
				writes = append(writes, storage.Write{Record: storage.Record{Key: k}, Delete: true})
			}
			return writes, nil
		}))
	}
	want := func(when string, revision int64) {
		t.Helper()
		got := get(t, b, floor)[0]
		if got.Revision != revision || got.Exists() != (revision > 0) || len(got.Content) > 0 {
			t.Errorf("%s: the floor is %+v; want revision %d", when, got, revision)
		}
	}
	want("at first", 0)
	put(t, b, record(k, 7, "x"))
	want("after a write", 0)
	remove(k)
	want("after a delete", 7)
	remove(k)
	put(t, b, record(k, 3, "x"))
	remove(k)
	want("after a delete of a lower revision", 7)

	expired := record(k, 9, "x")
	expired.Expires = epoch
	put(t, b, expired)
	if n, err := sweepUpTo(ctx, b, epoch.Add(time.Hour), 10); n != 1 || err != nil {
		t.Fatalf("Sweep = %d, %v", n, err)
	}
	want("after a sweep", 9)

	ended := record(k, 11, "x")
	ended = withTags(ended, "e")
	put(t, b, ended)
	if gone, err := b.DeleteWhere(ctx, tagged("a", "e"), 10); len(gone) != 1 || err != nil {
		t.Fatalf("Drop = %v, %v", gone, err)
	}
	want("after a removal by prefix", 11)

	put(t, b, record(k, 20, "x"))
	refused := errors.New("refused")
	err := b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) { return nil, refused })
	if !errors.Is(err, refused) {
		t.Fatal(err)
	}
	want("after a rejected update", 11)
	if found := all(t, b, floor); len(found) > 0 {
		t.Errorf("Scan returned the record of the floor: %v; want no records", found)
	}
}
