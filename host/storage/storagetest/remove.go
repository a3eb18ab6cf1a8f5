package storagetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/storage"
)

// drain repeatedly calls the function "remove" with a small limit, until no records are left. The
// result is the number of removed records.
func drain(t tester, limit int, remove func(limit int) (int, error)) int {
	t.Helper()
	for total := 0; ; {
		n, err := remove(limit)
		must(t, err)
		if n > limit {
			t.Fatalf("%d records were removed; the limit is %d", n, limit)
		}
		total += n
		if n < limit {
			return total
		}
	}
}

// deleting returns a function for drain that calls DeleteWhere.
func deleting(b storage.Backend, what storage.Selector) func(limit int) (int, error) {
	return func(limit int) (int, error) {
		removed, err := b.DeleteWhere(context.Background(), what, limit)
		return len(removed), err
	}
}

func testDelete(t *testing.T, b storage.Backend) {
	ended := func(k storage.Key, ends ...string) storage.Record {
		return withTags(record(k, 1, "x"), ends...)
	}
	tests := []struct {
		name string
		what storage.Selector
		want int
	}{
		{"a user", storage.Selector{Prefix: app("a", user("u"))}, 11},
		{"another user", storage.Selector{Prefix: app("a", user("uu"))}, 1},
		{"an app", storage.Selector{Prefix: app("a")}, 13},
		{"a tag", tagged("a", "session/s1"), 11},
		{"a longer tag", tagged("a", "session/s10"), 2},
		{"a prefix of a tag", tagged("a", "session/s"), 0},
		{"a tag under a prefix", storage.Selector{Prefix: app("a", user("u")), Group: app("a"), Tag: "session/s1"}, 10},
		{"a tag of another app", tagged("b", "session/s1"), 1},
		{"a tag under a prefix of another app", storage.Selector{Prefix: app("b"), Group: app("a"), Tag: "session/s1"}, 0},
		{"a tag outside of apps", storage.Selector{Tag: "session/s1"}, 1},
		{"a user's tag", tagged("a", storage.SubjectTag("u")), 11},
		{"keys", storage.Selector{Keys: []storage.Key{app("b", store("s")), app("c"), app("a", user("u"), store("s3")), app("a", user("u"))}}, 2},
		{"a prefix without records", storage.Selector{Prefix: app("c")}, 0},
	}
	for _, test := range tests {
		for _, limit := range []int{1, 3, 100} {
			t.Run(fmt.Sprint(test.name, limit), func(t *testing.T) {
				drain(t, 100, deleting(b, storage.Selector{Prefix: app("")}))
				drain(t, 100, deleting(b, storage.Selector{Prefix: storage.MakeKey(storage.Part{Tag: storage.System, Value: "run"})}))
				put(t, b, ended(app("a", user("u"), store("kept"))), ended(app("a", user("uu"), store("s")), "session/s10", "session/s1"),
					ended(app("a", store("s")), "session/s10"), ended(app("b", store("s")), "session/s1"),
					ended(storage.MakeKey(storage.Part{Tag: storage.System, Value: "run"}, storage.Part{Tag: storage.Item, Value: "r"}), "session/s1"))
				for i := range 10 {
					put(t, b, ended(app("a", user("u"), store(fmt.Sprint("s", i))), "session/s2", "session/s1"))
				}
				before := all(t, b, "")
				got := drain(t, limit, deleting(b, test.what))
				if got != test.want {
					t.Errorf("dropped %d; want %d", got, test.want)
				}
				var left []storage.Record
				for _, r := range before {
					if !test.what.Matches(r) {
						left = append(left, r)
					}
				}
				same(t, "the records left", all(t, b, ""), left)
				checkUsage(t, b, app("a"), app("b"))
			})
		}
	}
}

func testSweep(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	for i := range 20 {
		r := record(app("a", store(fmt.Sprintf("s%02d", i))), 1, "x")
		r.Expires, r.Tags = epoch.Add(time.Duration(i)*time.Microsecond), []string{"e"}
		put(t, b, r)
	}
	old := record(app("a", store("old")), 1, "x")
	old.Expires = time.Date(1901, 1, 1, 0, 0, 0, 0, time.UTC)
	put(t, b, old, record(app("a", store("ever")), 1, "x"))

	sweep := func(at time.Time) int {
		return drain(t, 3, func(n int) (int, error) { return sweepUpTo(ctx, b, at, n) })
	}
	for _, c := range []struct {
		at   time.Time
		want int
	}{
		{time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), 0},
		{epoch.Add(-time.Microsecond), 1},
		{epoch, 1}, // the record expires exactly at the time of the sweep
		{epoch.Add(5*time.Microsecond - 1), 4},
		{epoch.Add(5 * time.Microsecond), 1},
		{epoch.Add(5 * time.Microsecond), 0},
		{epoch.Add(time.Hour), 14},
	} {
		if got := sweep(c.at); got != c.want {
			t.Errorf("Sweep at %v removed %d; want %d", c.at, got, c.want)
		}
	}
	same(t, "the records left", all(t, b, ""), []storage.Record{record(app("a", store("ever")), 1, "x")})
	checkUsage(t, b, app("a"))
	if n, err := b.DeleteWhere(ctx, tagged("a", "e"), 100); len(n) != 0 || err != nil {
		t.Errorf("DeleteWhere by the tag of swept records = %v, %v; want none", n, err)
	}
}

// testSweepChecksExpiry extends and shortens a lifetime while a sweeper runs. Sweeps must check the
// current expiry and not an expiry from the index. Sweeps must never remove a record before it
// expires.
func testSweepChecksExpiry(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	k := app("a", store("s"))
	r := record(k, 1, "x")
	r.Expires = epoch
	put(t, b, r)
	r.Revision, r.Expires = 2, epoch.Add(time.Hour) // a write extends the lifetime
	put(t, b, r)
	if n, err := sweepUpTo(ctx, b, epoch.Add(time.Minute), 10); n != 0 || err != nil {
		t.Fatalf("Sweep of an extended record = %d, %v; want 0", n, err)
	}
	same(t, "the records left", all(t, b, ""), []storage.Record{r})

	stop := make(chan struct{})
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := sweepUpTo(ctx, b, epoch, 5); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 50 {
		keys := []storage.Key{k}
		must(t, b.Update(ctx, storage.Keys(keys...), func(now []storage.Record) ([]storage.Write, error) {
			next := record(k, now[0].Revision+1, "x")
			if i%2 == 0 {
				next.Expires = epoch.Add(time.Second) // the record has not expired at the time that the sweeper uses
			}
			return []storage.Write{{Record: next}}, nil
		}))
		if !get(t, b, k)[0].Exists() {
			t.Fatal("a sweep removed a record that had not expired")
		}
	}
	close(stop)
	sweeper.Wait()
	checkUsage(t, b, app("a"))
}

func testLimits(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	put(t, b, record(app("a", store("s")), 1, "x"))
	for _, limit := range []int{0, -1} {
		if _, err := b.Scan(ctx, "", "", limit); err == nil {
			t.Errorf("Scan with limit %d succeeded; want an error", limit)
		}
		if _, err := b.Heads(ctx, "", "", limit); err == nil {
			t.Errorf("Heads with limit %d succeeded; want an error", limit)
		}
		if _, err := b.DeleteWhere(ctx, storage.Selector{Prefix: app("a")}, limit); err == nil {
			t.Errorf("DeleteWhere with limit %d succeeded; want an error", limit)
		}
		if _, err := sweepUpTo(ctx, b, epoch, limit); err == nil {
			t.Errorf("Sweep with limit %d succeeded; want an error", limit)
		}
	}
	for _, what := range []storage.Selector{{}, {Keys: []storage.Key{}}, {Keys: []storage.Key{app("a")}, Prefix: app("a")}, {Keys: []storage.Key{app("a")}, Tag: "e"},
		{Group: app("a")}, {Group: app("a"), Prefix: app("a")}, {Expired: epoch, Tag: "e"}, {Expired: epoch, Prefix: app("a")}} {
		if _, err := b.DeleteWhere(ctx, what, 1); err == nil {
			t.Errorf("DeleteWhere of %+v succeeded; want an error", what)
		}
	}
	if n := len(all(t, b, "")); n != 1 {
		t.Errorf("%d records are left; want 1", n)
	}
}
