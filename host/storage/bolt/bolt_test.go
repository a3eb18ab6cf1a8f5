package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

func TestBackend(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storage.Backend {
		return openNew(t, &bolt.Options{UnsafeNoSync: true})
	})
}

func TestBudgetsAreExact(t *testing.T) {
	storagetest.RunExact(t, func(t *testing.T) storage.Backend {
		return openNew(t, &bolt.Options{UnsafeNoSync: true})
	})
}

// openNew opens a new database. When the test ends, the database is closed and checked.
func openNew(t testing.TB, opts *bolt.Options) *bolt.Backend {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	b, err := bolt.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		checkSound(t, path)
	})
	return b
}

func checkSound(t testing.TB, path string) {
	t.Helper()
	report, err := bolt.Check(path)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Errorf("Check = %+v; want no problems", report)
	}
}
