package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/host/storage"
)

func openTest(t *testing.T) *Backend {
	t.Helper()
	b, err := Open(filepath.Join(t.TempDir(), "db"), &Options{UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func testKey(name string) storage.Key {
	return storage.MakeKey(
		storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"},
		storage.Part{Tag: storage.Store, Value: name})
}

// groupOf returns a key that consists of the tenant and the app in k.
func groupOf(k storage.Key) storage.Key {
	group, _ := k.Group()
	return group
}

// tagged selects the records of testKeys by a tag.
func tagged(tag string) storage.Selector {
	return storage.Selector{Group: groupOf(testKey("s")), Tag: tag}
}

// sweepUpTo removes expired records and returns their number. The argument "limit" is the maximum
// number of records.
func sweepUpTo(ctx context.Context, b storage.Backend, at time.Time, limit int) (int, error) {
	removed, err := b.DeleteWhere(ctx, storage.Selector{Expired: at}, limit)
	return len(removed), err
}

// count increments the revision of a record.
func count(b *Backend, k storage.Key) error {
	return b.Update(context.Background(), storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: storage.Record{Key: k, Revision: now[0].Revision + 1}}}, nil
	})
}

func revision(t *testing.T, b *Backend, k storage.Key) int64 {
	t.Helper()
	found, err := b.Get(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	return found[0].Revision
}

// holdCommit starts a commit that blocks until the function "release" is called.
func holdCommit(b *Backend) (release func()) {
	entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		b.submit(context.Background(), sender{}, func(*transaction) error {
			close(entered)
			<-leave
			return nil
		})
	}()
	<-entered
	return func() {
		close(leave)
		<-done
	}
}

// gather executes all functions in one commit, each in a separate goroutine, and returns their
// errors.
func gather(b *Backend, do ...func() error) []error {
	release := holdCommit(b)
	errs := make([]error, len(do))
	var wg sync.WaitGroup
	for i, f := range do {
		wg.Go(func() { errs[i] = f() })
		for queued := 0; queued < i+2; { // includes the blocked function
			b.queue.mu.Lock()
			queued = len(b.queue.items)
			b.queue.mu.Unlock()
		}
	}
	release()
	wg.Wait()
	return errs
}

// countCommits returns a counter of committed transactions.
func countCommits(b *Backend) *int {
	n := new(int)
	update := b.update
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		err := update(fn)
		if err == nil {
			*n++
		}
		return err
	}
	return n
}

func TestGroupCommit(t *testing.T) {
	b := openTest(t)
	b.batchTime = time.Hour
	commits := countCommits(b)
	shared := testKey("shared")
	refused := errors.New("refused")
	var do []func() error
	for range 10 {
		do = append(do,
			func() error { return count(b, shared) },
			func() error {
				return b.Update(context.Background(), storage.Keys(shared), func(now []storage.Record) ([]storage.Write, error) {
					return []storage.Write{{Record: storage.Record{Key: shared, Revision: now[0].Revision + 100}}}, refused
				})
			},
			func() error {
				return b.Update(context.Background(), storage.Keys(shared), func([]storage.Record) ([]storage.Write, error) { panic("oh") })
			})
	}
	errs := gather(b, do...)
	for i, err := range errs {
		switch i % 3 {
		case 0:
			if err != nil {
				t.Errorf("an update that shares a commit with failing updates = %v; want nil", err)
			}
		case 1:
			if err != refused {
				t.Errorf("a rejected update = %v; want its own error", err)
			}
		case 2:
			if err == nil || !strings.Contains(err.Error(), "panicked: oh") {
				t.Errorf("Update with a function that panics = %v", err)
			}
		}
	}
	if got := revision(t, b, shared); got != 10 {
		t.Errorf("ten updates in one commit left revision %d; want 10: each must see the previous one", got)
	}
	if *commits != 1 {
		t.Errorf("thirty updates took %d commits; want 1", *commits)
	}
}

func TestNothingToCommit(t *testing.T) {
	b := openTest(t)
	if err := count(b, testKey("s")); err != nil {
		t.Fatal(err)
	}
	commits := countCommits(b)
	ctx := context.Background()
	err := b.Update(ctx, storage.Keys(testKey("s")), func([]storage.Record) ([]storage.Write, error) { return nil, nil })
	_, err2 := b.DeleteWhere(ctx, tagged("none"), 10)
	_, err3 := sweepUpTo(ctx, b, epoch(), 10)
	if err := errors.Join(err, err2, err3); err != nil || *commits != 0 {
		t.Errorf("three operations that changed nothing took %d commits, %v; want none", *commits, err)
	}
}

func TestLargeBatches(t *testing.T) {
	b := openTest(t)
	b.batchTime = time.Hour
	commits := countCommits(b)
	content := make([]byte, maxBatchBytes/8)
	var do []func() error
	for i := range 20 {
		k := testKey(fmt.Sprint("s", i))
		do = append(do, func() error {
			return b.Update(context.Background(), storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
				return []storage.Write{{Record: storage.Record{Key: k, Revision: 1, Content: content}}}, nil
			})
		})
	}
	if err := errors.Join(gather(b, do...)...); err != nil {
		t.Fatal(err)
	}
	if *commits != 3 {
		t.Errorf("20 contents of an eighth of a batch took %d commits; want 3", *commits)
	}
}

// TestSpoiledTransaction makes one request fail during its writes, once with an error and once with
// a panic. A damaged page causes the same kind of panic. The other requests of the commit must
// succeed.
func TestSpoiledTransaction(t *testing.T) {
	b := openTest(t)
	good, bad := testKey("good"), testKey("bad")
	spoil := func(fail func() error) func() error {
		return func() error {
			return b.submit(context.Background(), sender{}, func(tr *transaction) error {
				tr.torn = true
				if err := tr.records.Put([]byte(bad), []byte("half a record")); err != nil {
					return err
				}
				return fail()
			})
		}
	}
	broken := errors.New("broken")
	errs := gather(b,
		func() error { return count(b, good) },
		spoil(func() error { return broken }),
		func() error { return count(b, good) },
		spoil(func() error { panic("page 7: it is malformed") }),
		func() error { return count(b, good) },
	)
	if errs[0] != nil || errs[2] != nil || errs[4] != nil {
		t.Errorf("the other requests = %v, %v, %v; want success", errs[0], errs[2], errs[4])
	}
	if !errors.Is(errs[1], broken) || !errors.Is(errs[3], storage.ErrCorrupt) {
		t.Errorf("the requests that spoiled their commits = %v, %v", errs[1], errs[3])
	}
	if got := revision(t, b, good); got != 3 {
		t.Errorf("the three other requests left revision %d; want 3", got)
	}
	if got := revision(t, b, bad); got != 0 {
		t.Errorf("the spoiled record has revision %d; want none", got)
	}
}

// TestCommitFails makes bbolt's commit fail twice. The first commit fails before it takes effect,
// and the second commit fails after it takes effect.
func TestCommitFails(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, test := range []struct {
		name    string
		applied bool
	}{{"before", false}, {"after", true}} {
		t.Run(test.name, func(t *testing.T) {
			b := openTest(t)
			k, other := testKey("s"), testKey("t")
			if err := count(b, k); err != nil {
				t.Fatal(err)
			}
			_, since, err := b.Read(t.Context(), nil, storage.Held{})
			if err != nil {
				t.Fatal(err)
			}
			update := b.update
			var once sync.Once
			b.update = func(fn func(tx *bbolt.Tx) error) error {
				err := update(func(tx *bbolt.Tx) error {
					err := fn(tx)
					if err == nil && !test.applied {
						once.Do(func() { err = disk })
					}
					return err
				})
				if err == nil {
					once.Do(func() { err = disk })
				}
				return err
			}
			errs := gather(b, func() error { return count(b, k) }, func() error { return count(b, other) })
			for _, err := range errs {
				if !errors.Is(err, disk) || errors.Is(err, storage.ErrUnknownOutcome) != test.applied {
					t.Errorf("Update = %v; want the disk's error; unknown outcome: %v", err, test.applied)
				}
			}
			want := int64(1)
			if test.applied {
				want = 2
			}
			if got := revision(t, b, k); got != want {
				t.Errorf("the record has revision %d; want %d", got, want)
			}
			if err := count(b, k); err != nil {
				t.Errorf("the update after it = %v", err)
			}
			written := 1 // a failed commit is not in the history
			if test.applied {
				written = 3
			}
			if found, _, err := b.Changes(t.Context(), "", since, 10); len(found) != written || err != nil {
				t.Errorf("Changes = %+v, %v; want %d", found, err, written)
			}
		})
	}
}

// TestCommitPanics makes bbolt panic during its commit, while bbolt holds its locks. No other call
// may block on the locks of bbolt.
func TestCommitPanics(t *testing.T) {
	b := openTest(t)
	b.update = func(fn func(tx *bbolt.Tx) error) error {
		tx, err := b.db.Begin(true)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		panic("page 7: it is malformed")
	}
	errs := gather(b, func() error { return count(b, testKey("s")) }, func() error { return count(b, testKey("t")) })
	for _, err := range errs {
		if !errors.Is(err, storage.ErrUnknownOutcome) || !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("Update = %v; want an unknown outcome", err)
		}
	}
	if err := count(b, testKey("s")); !errors.Is(err, errBroken) {
		t.Errorf("the update after it = %v; want %v", err, errBroken)
	}
	if _, err := b.Get(context.Background(), testKey("s")); !errors.Is(err, errBroken) {
		t.Errorf("Get after it = %v; want %v", err, errBroken)
	}
	path := b.db.Path()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(path, nil)
	if err != nil {
		t.Fatalf("Open after it = %v; want Close to have released the file", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestHeldInOneCommit executes two updates in one commit. The second update depends on records that
// the first update writes. The footprint of the second update is large. Therefore the backend uses
// the history and does not compare all records.
func TestHeldInOneCommit(t *testing.T) {
	b := openTest(t)
	k, other := testKey("s"), testKey("other")
	held := storage.Held{Versions: []storage.Version{{Key: k}}}
	for i := range 100 {
		held.Versions = append(held.Versions, storage.Version{Key: testKey(fmt.Sprint("absent", i))})
	}
	_, at, err := b.Read(t.Context(), nil, storage.Held{})
	if err != nil {
		t.Fatal(err)
	}
	held.Since = at
	inserted := storage.Held{Since: at, Versions: held.Versions[1:], Ranges: []storage.Range{{Prefix: testKey("s")}}}
	holding := func(h storage.Held) func() error {
		return func() error {
			return b.Update(t.Context(), storage.Footprint{Keys: []storage.Key{other}, Held: h}, func([]storage.Record) ([]storage.Write, error) {
				return []storage.Write{{Record: storage.Record{Key: other, Revision: 1}}}, nil
			})
		}
	}
	errs := gather(b, holding(held), func() error { return count(b, k) }, holding(held), holding(inserted))
	if errs[0] != nil || errs[1] != nil {
		t.Errorf("the updates before the change = %v, %v", errs[0], errs[1])
	}
	for _, err := range errs[2:] {
		if !errors.Is(err, storage.ErrChanged) {
			t.Errorf("an update of the same commit, after the change = %v; want ErrChanged", err)
		}
	}
}

// TestLateCommit lets the time limit of each commit pass before the first request of the commit.
// The time limit can pass this early if the machine suspends the process for a moment. The commit
// must execute the request.
func TestLateCommit(t *testing.T) {
	b := openTest(t)
	b.batchTime = -1
	for i := range 3 {
		putContent(t, b, testKey(fmt.Sprintf("late%d", i)), 1, 10)
	}
}
