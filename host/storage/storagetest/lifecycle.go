package storagetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
)

// operations calls each operation of a backend once.
func operations(ctx context.Context, b storage.Backend) map[string]error {
	k := app("a", store("s"))
	_, get := b.Get(ctx, k)
	_, scan := b.Scan(ctx, k, "", 1)
	update := b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: record(k, 9, "touched")}}, nil
	})
	_, drop := b.DeleteWhere(ctx, storage.Selector{Prefix: k}, 1)
	_, tag := b.ScanTag(ctx, tagged("a", "e"), "", 1)
	_, usage := b.Usage(ctx, app("a"))
	_, at, read := b.Read(ctx, nil, storage.Held{})
	_, _, changes := b.Changes(ctx, "", at, 1)
	if errors.Is(changes, storage.ErrTooOld) && read != nil {
		changes = read // a position is missing
	}
	return map[string]error{
		OpGet: get, OpScan: scan, OpUpdate: update, OpDelete: drop,
		OpChanges: changes, OpPing: b.Ping(ctx), "read": read, "scan of a tag": tag, "usage": usage,
	}
}

func testCancelled(t *testing.T, b storage.Backend) {
	was := record(app("a", store("s")), 1, "x")
	was.Expires = epoch
	put(t, b, was)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for op, err := range operations(ctx, b) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a canceled context = %v; want context.Canceled", op, err)
		}
	}
	same(t, "the stored records", all(t, b, ""), []storage.Record{was})
}

// hold starts an update and returns while the function of the update runs. The returned function
// "release" ends the update and returns the error of the update.
func hold(ctx context.Context, b storage.Backend, k storage.Key) (release func() error) {
	entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		done <- b.Update(ctx, storage.Keys(k), func(now []storage.Record) ([]storage.Write, error) {
			once.Do(func() { close(entered) })
			<-leave
			return []storage.Write{{Record: record(k, now[0].Revision+1, "held")}}, nil
		})
	}()
	<-entered
	return func() error {
		close(leave)
		return <-done
	}
}

// testCancelledWhileWaiting cancels updates that wait for another update. A backend in which
// updates do not wait for each other may execute the updates.
func testCancelledWhileWaiting(t *testing.T, b storage.Backend) {
	release := hold(context.Background(), b, app("a", store("held")))
	ctx, cancel := context.WithCancel(context.Background())
	k := app("a", store("s"))
	waiting := make(chan error)
	go func() {
		waiting <- b.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
			return []storage.Write{{Record: record(k, 1, "x")}}, nil
		})
	}()
	removing := make(chan error)
	go func() {
		_, err := b.DeleteWhere(ctx, storage.Selector{Prefix: app("b")}, 10)
		removing <- err
	}()
	cancel()
	updated, removed := <-waiting, <-removing
	for _, err := range []error{updated, removed} {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("canceled while waiting: %v; want nil or context.Canceled", err)
		}
	}
	must(t, release())
	put(t, b, record(app("a", store("after")), 1, "x"))
	want := []storage.Record{record(app("a", store("held")), 1, "held"), record(app("a", store("after")), 1, "x")}
	if updated == nil {
		want = append([]storage.Record{record(k, 1, "x")}, want...)
	}
	same(t, "the stored records", all(t, b, ""), want)
}

func testCancelledOnceBegun(t *testing.T, b storage.Backend) {
	ctx, cancel := context.WithCancel(context.Background())
	k := app("a", store("s"))
	release := hold(ctx, b, k)
	cancel()
	if err := release(); err != nil {
		t.Errorf("an update that was canceled after it had begun = %v; want nil", err)
	}
	same(t, "the stored records", get(t, b, k), []storage.Record{record(k, 1, "held")})
}

func testClosed(t *testing.T, b storage.Backend) {
	put(t, b, record(app("a", store("s")), 1, "x"))
	for range 2 {
		must(t, b.Close())
	}
	for op, err := range operations(context.Background(), b) {
		if !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s after Close = %v; want ErrClosed", op, err)
		}
	}
}

func testClosedInUse(t *testing.T, b storage.Backend) {
	release := hold(context.Background(), b, app("a", store("held")))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for op, err := range operations(context.Background(), b) {
				if err != nil && !errors.Is(err, storage.ErrClosed) {
					t.Errorf("%s during Close = %v; want nil or ErrClosed", op, err)
				}
			}
		})
	}
	wg.Go(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := release(); err != nil {
		t.Errorf("an update that had begun before Close = %v; want nil", err)
	}
	wg.Wait()
}
