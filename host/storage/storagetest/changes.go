package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/host/storage"
)

// changes reads, in pages, all changes under a prefix since a position. The results are the changes
// and the position of the last change.
func changes(t tester, b storage.Backend, prefix storage.Key, since storage.Position, limit int) ([]storage.Changed, storage.Position) {
	t.Helper()
	var found []storage.Changed
	for {
		page, next, err := b.Changes(context.Background(), prefix, since, limit)
		must(t, err)
		if len(page) > limit {
			t.Fatalf("Changes returned %d changes; the limit is %d", len(page), limit)
		}
		found, since = append(found, page...), next
		if len(page) < limit {
			return found, since
		}
	}
}

func testChanges(t *testing.T, b storage.Backend) {
	ctx := context.Background()
	_, start := read(t, b, storage.Held{})
	one, two := app("a", store("one")), app("a", store("two"))
	elsewhere := app("b", store("s"))
	put(t, b, record(two, 1, "x"), record(one, 1, "x"), record(elsewhere, 1, "x"))
	expired := record(two, 2, "x")
	expired.Expires, expired.Tags = epoch, []string{"e"}
	put(t, b, expired)
	put(t, b, record(one, 2, "x"))
	sweep(t, b, epoch.Add(time.Hour))
	_, err := b.DeleteWhere(ctx, storage.Selector{Prefix: app("a")}, 10)
	must(t, err)
	version := func(k storage.Key, revision int64) storage.Version {
		return storage.Version{Key: k, Revision: revision, Generation: "i1"}
	}
	want := []storage.Changed{
		{Version: version(two, 1)}, {Version: version(one, 1)}, {Version: version(two, 2)}, {Version: version(one, 2)},
		{Version: version(two, 2), Deleted: true}, {Version: version(one, 2), Deleted: true},
	}
	_, end := read(t, b, storage.Held{})
	for _, limit := range []int{1, 2, 3, 6, 100} {
		got, next := changes(t, b, app("a"), start, limit)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Changes with limit %d (-want +got):\n%s", limit, diff)
		}
		if more, _ := changes(t, b, "", next, 10); len(more) > 0 || next.Before(end) {
			t.Errorf("Changes with limit %d returned the end position %v, after which there are the changes %v; want the end position %v without further changes", limit, next, more, end)
		}
	}
	if got, _ := changes(t, b, elsewhere, start, 10); len(got) != 1 {
		t.Errorf("Changes under another prefix = %v; want one", got)
	}
	if got, _ := changes(t, b, app("c"), start, 1); len(got) != 0 {
		t.Errorf("Changes under a prefix without records = %v; want no changes", got)
	}
	refused := errors.New("refused")
	_ = b.Update(ctx, storage.Keys(one), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: record(one, 9, "x")}}, refused
	})
	if got, _ := changes(t, b, "", end, 10); len(got) != 0 {
		t.Errorf("Changes after a rejected update = %v; want no changes", got)
	}
	if _, _, err := b.Changes(ctx, "", storage.Position{}, 1); !errors.Is(err, storage.ErrTooOld) {
		t.Errorf("Changes since the zero Position = %v; want ErrTooOld", err)
	}
}

// In testFollowers, followers use Changes to replicate concurrent writes. testFollowers then
// compares the replicas with the backend.
func testFollowers(t *testing.T, b storage.Backend) {
	const writers, each, followers = 4, 30, 2
	_, start := read(t, b, storage.Held{})
	done := make(chan struct{})
	var following sync.WaitGroup
	copies := make([]map[storage.Key]storage.Version, followers)
	for i := range copies {
		copies[i] = map[storage.Key]storage.Version{}
		following.Go(func() {
			since := start
			for last := false; ; {
				page, next, err := b.Changes(context.Background(), app("a"), since, 3+i)
				if err != nil {
					t.Error(err)
					return
				}
				follow(copies[i], page)
				since = next
				if len(page) == 3+i {
					continue
				}
				if last {
					return
				}
				select {
				case <-done:
					last = true
				default:
				}
			}
		})
	}
	together(writers, func(w int) {
		for i := range each {
			k := app("a", store(fmt.Sprint("s", (w+i)%5)))
			err := b.Update(context.Background(), storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
				return []storage.Write{{Record: record(k, now[0].Revision+1, "x"), Delete: now[0].Revision > 7}}, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	close(done)
	following.Wait()
	want := map[storage.Key]storage.Version{}
	for _, r := range all(t, b, app("a")) {
		want[r.Key] = r.Version()
	}
	for i, got := range copies {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("follower %d (-want +got):\n%s", i, diff)
		}
	}
}

// follow applies changes to a replica.
func follow(copied map[storage.Key]storage.Version, changes []storage.Changed) {
	for _, c := range changes {
		if c.Deleted {
			delete(copied, c.Key)
		} else {
			copied[c.Key] = c.Version
		}
	}
}
