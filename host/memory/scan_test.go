package memory_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// weighing is a backend that records the total size of the contents that each operation returned.
// The backend keeps the maximum of these sizes.
type weighing struct {
	storage.Backend
	mu  sync.Mutex
	max int
}

func (w *weighing) weigh(records []storage.Record) {
	total := 0
	for _, r := range records {
		total += len(r.Content)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.max = max(w.max, total)
}

// Get implements storage.Backend.
func (w *weighing) Get(ctx context.Context, keys ...storage.Key) ([]storage.Record, error) {
	found, err := w.Backend.Get(ctx, keys...)
	w.weigh(found)
	return found, err
}

// Scan implements storage.Backend.
func (w *weighing) Scan(ctx context.Context, prefix, after storage.Key, limit int) ([]storage.Record, error) {
	found, err := w.Backend.Scan(ctx, prefix, after, limit)
	w.weigh(found)
	return found, err
}

// Update implements storage.Backend.
func (w *weighing) Update(ctx context.Context, on storage.Footprint, fn func([]storage.Record) ([]storage.Write, error)) error {
	return w.Backend.Update(ctx, on, func(now []storage.Record) ([]storage.Write, error) {
		w.weigh(now)
		return fn(now)
	})
}

// TestContentsHeldAtOnce stores 40 records of about 1 MiB each. Then it lists, audits, purges and
// erases the records.
func TestContentsHeldAtOnce(t *testing.T) {
	const n, size, limit = 40, 1 << 20, 9 << 20
	var w *weighing
	a := newApp(t, func(c *memory.Config) {
		w = &weighing{Backend: c.Backend}
		c.Backend = w
	})
	ctx := t.Context()
	content := []byte(`{"text":"` + strings.Repeat("x", size) + `"}`)
	group := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"})
	fill := func() {
		for i := range n {
			k := group.With(storage.Part{Tag: storage.Store, Value: "notes"}, storage.Part{Tag: storage.User, Value: "ann"},
				storage.Part{Tag: storage.Item, Value: fmt.Sprint(i)})
			err := w.Backend.Update(ctx, storage.Keys(k), func([]storage.Record) ([]storage.Write, error) {
				return []storage.Write{{Record: storage.Record{Key: k, Revision: 1, Content: content, Tags: []string{storage.SubjectTag("ann")}}}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	fill()
	listed := 0
	for _, test := range []struct {
		name string
		do   func() error
	}{
		{"list", func() error {
			for after := ""; ; {
				found, next, err := a.List(ctx, partition.Caller{Tenant: "acme"}, "notes", after, 7)
				for _, l := range found {
					if l.Bytes == len(content) {
						listed++
					}
				}
				if after = next; next == "" || err != nil {
					return err
				}
			}
		}},
		{"audit", func() error { _, err := a.Audit(ctx, "acme"); return err }},
		{"purge", func() error {
			purged, err := a.Purge(ctx, "acme", "notes")
			if purged != n {
				t.Errorf("Purge = %d; want %d", purged, n)
			}
			fill()
			return err
		}},
		{"erase", func() error {
			erased, err := a.Erase(ctx, caller("ann", ""))
			if erased.Records != n || erased.Bytes < n*size {
				t.Errorf("Erase = %+v; want %d records of %d bytes", erased, n, size)
			}
			return err
		}},
	} {
		w.max = 0
		if err := test.do(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if w.max > limit {
			t.Errorf("%s read %d MiB of contents at once; want at most %d", test.name, w.max>>20, limit>>20)
		}
	}
	if listed != n {
		t.Errorf("%d records were listed with their size; want %d", listed, n)
	}
}
