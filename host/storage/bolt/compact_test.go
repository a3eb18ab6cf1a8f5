package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

// canary is a string that occurs only in the removed records.
const canary = "CANARY-of-an-erased-user"

// fillAndErase writes records of all sizes. Half of the records contain the canary. Finally,
// fillAndErase removes all records that contain the canary.
func fillAndErase(t *testing.T, b *bolt.Backend) {
	t.Helper()
	for i := range 400 {
		r := storage.Record{Key: benchKey(i), Revision: 1, Content: bytes.Repeat([]byte("kept "), i), Tags: []string{"kept"}}
		if i%50 == 0 {
			r.Content = bytes.Repeat([]byte("large"), 800<<10)
		}
		if i%2 == 0 {
			r.Content, r.Tags = bytes.Repeat([]byte(canary), 1+len(r.Content)/len(canary)), []string{canary}
		}
		put(t, b, r)
	}
	removed, err := b.DeleteWhere(t.Context(), benchTagged(canary), 1000)
	if err != nil || len(removed) != 200 {
		t.Fatalf("DeleteWhere = %d, %v; want 200", len(removed), err)
	}
}

func records(t *testing.T, path string) []storage.Record {
	t.Helper()
	checkSound(t, path)
	b, err := bolt.Open(path, nil)
	must(t, err)
	defer b.Close()
	found, err := b.Scan(t.Context(), "", "", 10000)
	must(t, err)
	if len(found) != 200 {
		t.Errorf("%s has %d records; want 200", filepath.Base(path), len(found))
	}
	return found
}

func countCanaries(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return bytes.Count(data, []byte(canary))
}

// TestCopiesOmitRemovedData removes records, and searches every kind of copy for the bytes of the
// removed records.
func TestCopiesOmitRemovedData(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	b, err := bolt.Open(path, &bolt.Options{UnsafeNoSync: true})
	must(t, err)
	fillAndErase(t, b)
	must(t, b.BackupFile(t.Context(), filepath.Join(dir, "backup")))
	var stream bytes.Buffer
	_, err = b.Backup(t.Context(), &stream)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "stream"), stream.Bytes(), 0o600))
	must(t, b.Close())
	if countCanaries(t, path) == 0 {
		t.Fatal("the file has none of the removed bytes, so this test would find nothing")
	}
	want := records(t, path)
	must(t, copyFile(path, filepath.Join(dir, "compact")))
	done, err := bolt.Compact(t.Context(), filepath.Join(dir, "compact"))
	must(t, err)
	if done.Before <= done.After || done.After > done.Before*2/3 {
		t.Errorf("Compact = %+v; want a file without the removed data", done)
	}
	for _, name := range []string{"backup", "stream", "compact"} {
		copied := filepath.Join(dir, name)
		if n := countCanaries(t, copied); n != 0 {
			t.Errorf("%s contains removed data %d times", name, n)
		}
		if info, err := os.Stat(copied); err != nil || info.Size() > done.Before*2/3 {
			t.Errorf("%s has %d bytes, %v; the database has %d", name, info.Size(), err, done.Before)
		}
		for i, r := range records(t, copied) {
			if r.Key != want[i].Key || !bytes.Equal(r.Content, want[i].Content) {
				t.Fatalf("%s: record %d is %s; want %s", name, i, r.Key, want[i].Key)
			}
		}
	}
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	return err
}

func TestCompactFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	if _, err := bolt.Compact(t.Context(), path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Compact of a missing file = %v; want fs.ErrNotExist", err)
	}
	b, err := bolt.Open(path, nil)
	must(t, err)
	put(t, b, storage.Record{Key: benchKey(1), Revision: 1})
	if _, err := bolt.Compact(t.Context(), path); !errors.Is(err, abi.Unavailable) {
		t.Errorf("Compact of a file in use = %v; want abi.Unavailable", err)
	}
	must(t, b.Close())
	before, err := os.ReadFile(path)
	must(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bolt.Compact(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("Compact with a cancelled context = %v", err)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("a failed Compact changed the file")
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("failures left %v; want only the database", entries)
	}
}

// TestCompactThroughLink compacts a database whose path is a symbolic link. After Compact, the
// symbolic link must still exist, and the mode of the file must be unchanged.
func TestCompactThroughLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "db"), filepath.Join(dir, "link")
	b, err := bolt.Open(path, nil)
	must(t, err)
	must(t, b.Close())
	must(t, os.Chmod(path, 0o640))
	must(t, os.Symlink(path, link))
	_, err = bolt.Compact(t.Context(), link)
	must(t, err)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("the file has mode %v, %v; want 0640", info.Mode(), err)
	}
	checkSound(t, path)
}

// TestOpenWaitsForCompact repeatedly opens a file while the file is compacted. No write may go to a
// file that has already been replaced, because the write would be lost.
func TestOpenWaitsForCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := bolt.Compact(context.Background(), path); err != nil && !errors.Is(err, abi.Unavailable) && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
				return
			}
		}
	}()
	const rounds = 40
	for i := range rounds {
		b, err := bolt.Open(path, &bolt.Options{LockTimeout: time.Minute, UnsafeNoSync: true})
		must(t, err)
		put(t, b, storage.Record{Key: benchKey(i), Revision: 1})
		must(t, b.Close())
	}
	close(stop)
	<-ended
	b, err := bolt.Open(path, nil)
	must(t, err)
	defer b.Close()
	found, err := b.Heads(t.Context(), "", "", 1000)
	if err != nil || len(found) != rounds {
		t.Errorf("%d of %d records are left, %v", len(found), rounds, err)
	}
}

// TestOpenRemovesTemps opens a database after the previous process was killed during a copy.
func TestOpenRemovesTemps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".db.copy-123", ".db.copy-abc", ".other.copy-1", ".db.copy"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(canary), 0o600))
	}
	b, err := bolt.Open(filepath.Join(dir, "db"), nil)
	must(t, err)
	must(t, b.Close())
	entries, err := os.ReadDir(dir)
	must(t, err)
	if got := fmt.Sprint(entries); len(entries) != 3 {
		t.Errorf("Open left %s; want the database and unrelated files", got)
	}
}

// TestCopyLeavesNothing reads a copy. TestCopyLeavesNothing checks that a copy is not empty and has
// no name in its directory.
func TestCopyLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	b, err := bolt.Open(filepath.Join(dir, "db"), nil)
	must(t, err)
	defer b.Close()
	c, err := b.Copy(t.Context())
	must(t, err)
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 && runtime.GOOS != "windows" {
		t.Errorf("a copy has a directory entry while it is read: %v", entries)
	}
	if n, err := io.Copy(io.Discard, c); n != c.Size() || err != nil {
		t.Errorf("the copy has %d bytes, %v; want %d", n, err, c.Size())
	}
	must(t, c.Close())
	if entries, err = os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("a copy left %v, %v", entries, err)
	}
}
