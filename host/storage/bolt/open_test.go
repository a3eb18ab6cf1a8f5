package bolt_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

func TestOpenForeignFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	database := func(name string, fill func(tx *bbolt.Tx) error) string {
		path := filepath.Join(dir, name)
		db, err := bbolt.Open(path, 0o600, nil)
		must(t, err)
		must(t, db.Update(fill))
		must(t, db.Close())
		return path
	}
	link := filepath.Join(dir, "link")
	must(t, os.Symlink(filepath.Join(dir, "nowhere"), link))
	for _, test := range []struct{ name, path, want string }{
		{"empty", file("empty", ""), "restore the file from a backup, or delete the file to start without data"},
		{"one byte", file("byte", "x"), "not a toolrun database"},
		{"text", file("text", strings.Repeat("hello, world\n", 1000)), "not a toolrun database"},
		{"sqlite", file("sqlite", "SQLite format 3\x00"+strings.Repeat("\x00", 8192)), "not a toolrun database"},
		{"zeroes", file("zeroes", strings.Repeat("\x00", 1<<16)), "not a toolrun database"},
		{"a foreign database", database("foreign", func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("their bucket"))
			return err
		}), "not a toolrun database"},
		{"an empty bbolt database", database("bare", func(*bbolt.Tx) error { return nil }), "not a toolrun database"},
		{"a foreign meta bucket", database("meta", func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("meta"))
			return err
		}), "not a toolrun database"},
		{"another format", database("format", func(tx *bbolt.Tx) error {
			meta, err := tx.CreateBucket([]byte("meta"))
			if err != nil {
				return err
			}
			return meta.Put([]byte("toolrun-storage-format"), []byte("7"))
		}), `the storage format is "7", but this version requires format 8`},
		{"missing buckets", database("part", func(tx *bbolt.Tx) error {
			meta, err := tx.CreateBucket([]byte("meta"))
			if err != nil {
				return err
			}
			return meta.Put([]byte("toolrun-storage-format"), []byte("8"))
		}), `the bucket "records" is missing`},
		{"a directory", dir, "the path is not a regular file"},
		{"a dangling link", link, "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, _ := os.ReadFile(test.path)
			b, err := bolt.Open(test.path, nil)
			if err == nil {
				b.Close()
				t.Fatal("Open succeeded")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("Open = %v; want %q in it", err, test.want)
			}
			if after, _ := os.ReadFile(test.path); string(after) != string(before) {
				t.Error("Open changed the file")
			}
		})
	}
}

func TestOpenNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "db")
	b, err := bolt.Open(path, nil)
	must(t, err)
	put(t, b, storage.Record{Key: benchKey(1), Revision: 1, Content: []byte("kept")})
	must(t, b.Close())
	for name, want := range map[string]os.FileMode{path: 0o600, dir: 0o700 | os.ModeDir} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v; want %v", filepath.Base(name), info.Mode(), want)
		}
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("the directory has %v; want only the database", entries)
	}

	b, err = bolt.Open(path, nil)
	must(t, err)
	defer b.Close()
	found, err := b.Get(context.Background(), benchKey(1))
	if err != nil || string(found[0].Content) != "kept" {
		t.Errorf("Get after opening again = %v, %v", found, err)
	}
}

func TestOpenInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	b, err := bolt.Open(path, nil)
	must(t, err)
	short := &bolt.Options{LockTimeout: time.Millisecond}
	for _, open := range []func() error{
		func() error { _, err := bolt.Open(path, short); return err },
		func() error { _, err := bolt.Check(path); return err },
	} {
		err := open()
		var fault *abi.Fault
		if !errors.As(err, &fault) || fault.Code != abi.Unavailable || fault.Hint == "" || !strings.Contains(err.Error(), "in use by another process") {
			t.Errorf("with the file in use: %v; want unavailable, and a hint", err)
		}
		if strings.Contains(fault.Message+fault.Hint, filepath.Dir(path)) {
			t.Errorf("the fault contains a host path: %+v", fault)
		}
	}
	put(t, b, storage.Record{Key: benchKey(1), Revision: 1})
	must(t, b.Close())
	b, err = bolt.Open(path, short)
	must(t, err)
	must(t, b.Close())
}

// TestOpenTogether lets many goroutines create the same database. All goroutines must be able to
// open the database, one after the other. No goroutine may write a record to a file that another
// goroutine has replaced.
func TestOpenTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			b, err := bolt.Open(path, &bolt.Options{LockTimeout: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			put(t, b, storage.Record{Key: benchKey(i), Revision: 1})
		})
	}
	wg.Wait()
	checkSound(t, path)
	report, err := bolt.Check(path)
	must(t, err)
	if report.Records != 8 {
		t.Errorf("%d records are in the database; want 8", report.Records)
	}
}

func TestOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	if _, err := bolt.Open(path, &bolt.Options{LockTimeout: -1}); err == nil {
		t.Error("a negative LockTimeout was accepted")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a database was created despite invalid options")
	}
}
