package storagetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// testDeleteReturnsHeads checks that DeleteWhere returns the heads of the records that it removed.
func testDeleteReturnsHeads(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	var want []storage.Record
	for i := range 5 {
		r := record(app("a", user("u"), store(fmt.Sprint("s", i))), int64(i+1), string(bytes.Repeat([]byte("x"), i)))
		r = withTags(r, "e")
		r.Expires = epoch.Add(time.Hour)
		want = append(want, r)
	}
	for _, what := range []storage.Selector{
		{Prefix: app("a")}, tagged("a", "e"), {Prefix: app("a", user("u")), Group: app("a"), Tag: "e"},
		{Keys: []storage.Key{want[0].Key, want[1].Key, want[2].Key, want[3].Key, want[4].Key}},
	} {
		put(t, b, want...)
		first, err := b.DeleteWhere(ctx, what, 2)
		must(t, err)
		rest, err := b.DeleteWhere(ctx, what, 10)
		must(t, err)
		got := append(slices.Clone(first), rest...)
		slices.SortFunc(got, func(x, y storage.Head) int { return bytes.Compare([]byte(x.Key), []byte(y.Key)) })
		sameHeads(t, fmt.Sprintf("DeleteWhere of %+v", what), got, want)
		if len(first) != 2 {
			t.Errorf("DeleteWhere of %+v with limit 2 removed %d records", what, len(first))
		}
		var size int64
		for _, h := range got {
			size += h.Size()
		}
		if wantSize := storage.SizeOf(want[4])*5 - 10; size != wantSize {
			t.Errorf("the heads have %d bytes; want %d", size, wantSize)
		}
	}
	checkUsage(t, b, app("a"))
}

// testDeleteLarge removes much data in one call. The amount of data exceeds the limits of one
// transaction.
func testDeleteLarge(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	const n, size = 6, storage.MaxContentBytes
	fill := func() (keys []storage.Key) {
		for i := range n {
			r := record(app("a", store(fmt.Sprintf("s%02d", i))), 1, string(bytes.Repeat([]byte{byte(i)}, size)))
			r.Expires, r.Tags = epoch.Add(time.Duration(n-i)*time.Second), []string{"e"}
			put(t, b, r)
			keys = append(keys, r.Key)
		}
		return keys
	}
	keys := fill()
	for _, what := range []storage.Selector{{Prefix: app("a")}, tagged("a", "e"), {Keys: keys}} {
		removed, err := b.DeleteWhere(ctx, what, 1000)
		if err != nil || len(removed) != n {
			t.Errorf("DeleteWhere of %+v = %d records, %v; want %d", what, len(removed), err, n)
		}
		checkUsage(t, b, app("a"))
		fill()
	}
	if got, err := sweepUpTo(ctx, b, epoch.Add(5*time.Second), 1000); got != 5 || err != nil {
		t.Errorf("Sweep = %d, %v; want 5", got, err)
	}
	if got, err := sweepUpTo(ctx, b, epoch.Add(time.Hour), 1000); got != n-5 || err != nil {
		t.Errorf("Sweep = %d, %v; want %d", got, err, n-5)
	}
	checkUsage(t, b, app("a"))
}

// In testDeleteWhileWriting, writers add records under a prefix. At the same time, other calls
// delete the records in chunks. Each record must be returned as removed exactly once.
func testDeleteWhileWriting(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	const writers, each = 4, 40
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				put(t, b, record(app("a", user(fmt.Sprint(w)), store(fmt.Sprint("s", i))), 1, "x"))
			}
		})
	}
	removed := map[storage.Key]int{}
	remove := func(limit int) {
		heads, err := b.DeleteWhere(ctx, storage.Selector{Prefix: app("a")}, limit)
		if err != nil {
			t.Error(err)
		}
		for _, h := range heads {
			removed[h.Key]++
		}
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		remove(7)
	}
	remove(1000)
	if len(removed) != writers*each {
		t.Errorf("%d records were removed; want %d", len(removed), writers*each)
	}
	for k, n := range removed {
		if n != 1 {
			t.Errorf("%s was returned %d times", k, n)
		}
	}
	checkUsage(t, b, app("a"))
}
