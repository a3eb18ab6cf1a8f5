package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// TestBackupInUse copies a database during updates. Each update increments the same two records. In
// every copy, both records must have the same revision.
func TestBackupInUse(t *testing.T) {
	ctx := context.Background()
	b := openNew(t, &bolt.Options{UnsafeNoSync: true})
	pair := []storage.Key{benchKey(1), benchKey(2)}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			err := b.Update(ctx, storage.Keys(pair...), func(now []storage.Record) ([]storage.Write, error) {
				content := []byte(strconv.Itoa(i))
				return []storage.Write{
					{Record: storage.Record{Key: pair[0], Revision: int64(i), Content: content}},
					{Record: storage.Record{Key: pair[1], Revision: int64(i), Content: bytes.Repeat(content, i%5000)}},
				}, nil
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	path := filepath.Join(t.TempDir(), "copy")
	for range 5 {
		must(t, b.BackupFile(ctx, path)) // replaces the previous copy
		checkSound(t, path)
		copied, err := bolt.Open(path, nil)
		must(t, err)
		found, err := copied.Get(ctx, pair...)
		must(t, err)
		if found[0].Revision != found[1].Revision {
			t.Errorf("two records that are written together have the revisions %d and %d in a copy; want equal revisions", found[0].Revision, found[1].Revision)
		}
		put(t, copied, storage.Record{Key: benchKey(3), Revision: 1})
		must(t, copied.Close())
	}
	close(stop)
	writer.Wait()
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("backups left %v; want one file", entries)
	}
}

func TestBackup(t *testing.T) {
	b := openNew(t, nil)
	put(t, b, storage.Record{Key: benchKey(1), Revision: 1})
	var buf bytes.Buffer
	n, err := b.Backup(context.Background(), &buf)
	if err != nil || n != int64(buf.Len()) {
		t.Fatalf("Backup = %d, %v; %d bytes were written", n, err, buf.Len())
	}
	path := filepath.Join(t.TempDir(), "copy")
	must(t, os.WriteFile(path, buf.Bytes(), 0o600))
	checkSound(t, path)
}

type limitedWriter struct{ room int }

var errFull = errors.New("disk full")

func (d *limitedWriter) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestBackupFails(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "db")
	b, err := bolt.Open(self, nil)
	must(t, err)
	defer b.Close()
	put(t, b, storage.Record{Key: benchKey(1), Revision: 1})

	for _, room := range []int{0, 5000, 9000} {
		if _, err := b.Backup(context.Background(), &limitedWriter{room}); err == nil || errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("Backup to a disk with room for %d bytes = %v; want its error", room, err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.BackupFile(cancelled, filepath.Join(dir, "copy")); !errors.Is(err, context.Canceled) {
		t.Errorf("BackupFile with a cancelled context = %v", err)
	}
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(self, link))
	for _, path := range []string{self, link} {
		if err := b.BackupFile(context.Background(), path); err == nil {
			t.Errorf("BackupFile to %s, which is the database itself, succeeded", filepath.Base(path))
		}
	}
	if err := b.BackupFile(context.Background(), filepath.Join(dir, "none", "copy")); err == nil {
		t.Error("BackupFile to a directory that does not exist succeeded")
	}
	put(t, b, storage.Record{Key: benchKey(1), Revision: 2})
	must(t, b.Close())
	if err := b.BackupFile(context.Background(), filepath.Join(dir, "late")); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("BackupFile after Close = %v; want ErrClosed", err)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 2 {
		t.Errorf("backups that failed left %v; want the database and the link", entries)
	}
}
