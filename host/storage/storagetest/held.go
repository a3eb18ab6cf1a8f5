package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// read calls Read, which must succeed.
func read(t tester, b storage.Backend, held storage.Held, want ...storage.Key) ([]storage.Record, storage.Position) {
	t.Helper()
	found, at, err := b.Read(context.Background(), want, held)
	must(t, err)
	if len(found) != len(want) || at == (storage.Position{}) {
		t.Fatalf("Read of %d keys = %d records at %v", len(want), len(found), at)
	}
	return found, at
}

// seen returns the current versions of keys and ranges. If there are many keys, a backend uses its
// history and does not compare all versions.
func seen(t tester, b storage.Backend, keys []storage.Key, ranges ...storage.Range) storage.Held {
	t.Helper()
	held := storage.Held{Ranges: ranges}
	found, at := read(t, b, storage.Held{}, keys...)
	held.Since = at
	for i, k := range keys {
		held.Versions = append(held.Versions, storage.VersionOf(k, found[i]))
	}
	return held
}

// scanned returns the range that a Scan observed.
func scanned(t tester, b storage.Backend, prefix, after storage.Key, limit int) storage.Range {
	t.Helper()
	found, err := b.Scan(context.Background(), prefix, after, limit)
	must(t, err)
	return storage.RangeOf(prefix, after, limit, found)
}

// checkHeld checks whether the observations in the argument "held" are still true. Read and Update
// must give the same answer, with the position Held.Since and without a position.
func checkHeld(t tester, b storage.Backend, what string, held storage.Held, changed bool) {
	t.Helper()
	for _, since := range []storage.Position{held.Since, {}} {
		held.Since = since
		_, _, err := b.Read(context.Background(), nil, held)
		if errors.Is(err, storage.ErrChanged) != changed || err != nil && !changed {
			t.Errorf("%s: Read since %v = %v; want changed: %v", what, since, err, changed)
		}
		called := false
		err = b.Update(context.Background(), storage.Footprint{Held: held}, func([]storage.Record) ([]storage.Write, error) {
			called = true
			return nil, nil
		})
		if errors.Is(err, storage.ErrChanged) != changed || err != nil && !changed || called == changed {
			t.Errorf("%s: Update since %v = %v, the function was called: %v; want changed: %v", what, since, err, called, changed)
		}
	}
}

func testRead(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	one, two, none := record(app("a", store("one")), 1, "1"), record(app("a", store("two")), 2, "2"), app("a", store("none"))
	_, empty := read(t, b, storage.Held{})
	put(t, b, one, two)
	held := seen(t, b, []storage.Key{one.Key, none})
	got, at := read(t, b, held, two.Key, none, one.Key, storage.FloorKey(one.Key))
	same(t, "Read", got, []storage.Record{two, {}, one, {}})
	if !empty.Before(at) {
		t.Errorf("the position after a write is %v; before the write it was %v; want a later position", at, empty)
	}
	if _, again := read(t, b, storage.Held{}); again != at {
		t.Errorf("the position changed from %v to %v without a write", at, again)
	}
	put(t, b, record(one.Key, 2, "11"))
	if got, _, err := b.Read(ctx, []storage.Key{two.Key}, held); !errors.Is(err, storage.ErrChanged) || got != nil {
		t.Errorf("Read after a write to a held record = %v, %v; want no records and ErrChanged", got, err)
	}
}

// testHeldVersions changes a held record in every possible way. In some cases, the Held contains
// only the changed record. In other cases, the Held contains many records.
func testHeldVersions(t *testing.T, b storage.Backend) {
	var many []storage.Key
	for i := range 40 {
		r := record(app("many", store(fmt.Sprintf("s%02d", i))), 1, "x")
		put(t, b, r)
		many = append(many, r.Key)
	}
	k, other := app("a", user("u"), store("s")), app("a", user("u"), store("other"))
	remove := func(k storage.Key) {
		must(t, b.Update(context.Background(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: storage.Record{Key: k}, Delete: true}}, nil
		}))
	}
	recreated := record(k, 1, "x")
	recreated.Generation = "i2"
	expired := record(k, 3, "x")
	expired.Expires = epoch
	for _, c := range []struct {
		name    string
		change  func()
		changed bool
	}{
		{"nothing", func() {}, false},
		{"another record is written", func() { put(t, b, record(other, 1, "x")) }, false},
		{"another record is written again", func() { put(t, b, record(other, 2, "x")) }, false},
		{"created", func() { put(t, b, record(k, 1, "x")) }, true},
		{"written", func() { put(t, b, record(k, 2, "x")) }, true},
		{"removed", func() { remove(k) }, true},
		{"created and removed", func() { put(t, b, record(k, 1, "x")); remove(k) }, false},
		{"created again", func() { put(t, b, record(k, 1, "x")) }, true},
		{"recreated with another generation", func() { put(t, b, recreated) }, true},
		{"written with an expiry", func() { put(t, b, expired) }, true},
		{"swept", func() { sweep(t, b, epoch.Add(time.Hour)) }, true},
	} {
		few, lots := seen(t, b, []storage.Key{k}), seen(t, b, append([]storage.Key{k}, many...))
		c.change()
		checkHeld(t, b, c.name, few, c.changed)
		checkHeld(t, b, c.name+", among many", lots, c.changed)
	}
	floor := seen(t, b, []storage.Key{storage.FloorKey(k)})
	floors := seen(t, b, append([]storage.Key{storage.FloorKey(k)}, many...))
	put(t, b, record(k, 7, "x"))
	checkHeld(t, b, "an unchanged floor", floor, false)
	remove(k)
	checkHeld(t, b, "a raised floor", floor, true)
	checkHeld(t, b, "a raised floor, among many", floors, true)
}

func sweep(t tester, b storage.Backend, at time.Time) {
	t.Helper()
	_, err := sweepUpTo(context.Background(), b, at, 1000)
	must(t, err)
}

// testHeldRanges checks that every insertion, update and deletion in a held range is detected.
func testHeldRanges(t *testing.T, b storage.Backend) {
	key := func(i int) storage.Key { return app("a", user("u"), store(fmt.Sprintf("s%02d", i))) }
	prefix := app("a", user("u"))
	reset := func() {
		_, err := b.DeleteWhere(context.Background(), storage.Selector{Prefix: app("a")}, 1000)
		must(t, err)
		for i := 2; i <= 60; i += 2 {
			put(t, b, record(key(i), 1, "x"))
		}
	}
	remove := func(k storage.Key) {
		_, err := b.DeleteWhere(context.Background(), storage.Selector{Keys: []storage.Key{k}}, 1)
		must(t, err)
	}
	for _, g := range []struct {
		name          string
		after         storage.Key
		limit         int
		first, middle int // the numbers of the keys in the range
		last, outside int
	}{
		{"a whole prefix", "", 1000, 1, 31, 99, -1},
		{"the beginning", "", 5, 1, 5, 9, 11},
		{"a section", key(10), 3, 11, 14, 15, 17},
		{"the rest", key(30), 1000, 31, 40, 99, 29},
		{"a section after a missing key", key(9), 3, 10, 12, 13, 15},
	} {
		for _, c := range []struct {
			name    string
			change  func()
			changed bool
		}{
			{"nothing", func() {}, false},
			{"insert at the beginning", func() { put(t, b, record(key(g.first)+"", 2, "x")) }, true},
			{"insert in the middle", func() { put(t, b, record(key(g.middle|1), 2, "x")) }, true},
			{"insert at the end", func() { put(t, b, record(key(g.last), 2, "x")) }, true},
			{"update", func() { put(t, b, record(key(g.middle&^1), 2, "y")) }, true},
			{"delete", func() { remove(key(g.middle &^ 1)) }, true},
			{"delete and create again", func() { remove(key(g.middle &^ 1)); put(t, b, record(key(g.middle&^1), 2, "x")) }, true},
			{"insert and delete", func() { put(t, b, record(key(g.last), 2, "x")); remove(key(g.last)) }, g.last%2 == 0},
			{"insert outside", func() { put(t, b, record(key(g.outside), 2, "x")) }, false},
			{"insert under another prefix", func() { put(t, b, record(app("a", user("uu"), store("s")), 1, "x")) }, false},
			{"insert before the prefix", func() { put(t, b, record(app("a", user("t"), store("s")), 1, "x")) }, false},
		} {
			if g.outside < 0 && c.name == "insert outside" {
				continue
			}
			reset()
			held := seen(t, b, nil, scanned(t, b, prefix, g.after, g.limit))
			c.change()
			checkHeld(t, b, g.name+": "+c.name, held, c.changed)
		}
	}
}

// testEmptyRange checks that the backend detects the first record in an empty range.
func testEmptyRange(t *testing.T, b storage.Backend) {
	held := seen(t, b, nil, scanned(t, b, app("a", user("u")), "", 10), scanned(t, b, "", "", 10))
	checkHeld(t, b, "an empty backend", held, false)
	held.Ranges = held.Ranges[:1]
	put(t, b, record(app("a", store("s")), 1, "x"))
	checkHeld(t, b, "another record", held, false)
	put(t, b, record(app("a", user("u"), store("s")), 1, "x"))
	checkHeld(t, b, "the first record", held, true)
}
