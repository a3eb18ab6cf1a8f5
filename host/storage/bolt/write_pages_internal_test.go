package bolt

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
)

// randomEntries returns entries with keys and values of all sizes, including values larger than a
// page.
func randomEntries(r *rand.Rand, n int) map[string]string {
	entries := map[string]string{}
	for range n {
		key := bytes.Repeat([]byte{byte(r.IntN(256))}, 1+r.IntN(40))
		if r.IntN(50) == 0 {
			key = bytes.Repeat(key, 1+r.IntN(300))
		}
		size := r.IntN(300)
		if r.IntN(20) == 0 {
			size = 4096*r.IntN(20) + r.IntN(3) - 1 // the size is close to a multiple of the page size
		}
		key = fmt.Append(key, r.Uint32())
		entries[string(key)] = string(bytes.Repeat([]byte{byte(r.IntN(256))}, max(size, 0)))
	}
	return entries
}

func writeEntries(t *testing.T, f *os.File, pageSize int, buckets map[string]map[string]string) {
	t.Helper()
	err := writePages(f, pageSize, func(add func([]byte, func(visit) error) error) error {
		for _, name := range slices.Sorted(maps.Keys(buckets)) {
			err := add([]byte(name), func(yield visit) error {
				for _, k := range slices.Sorted(maps.Keys(buckets[name])) {
					if err := yield([]byte(k), []byte(buckets[name][k])); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWritePages writes databases with different numbers and sizes of entries. TestWritePages
// checks each database with the code of this package and with bbolt. Then TestWritePages uses bbolt
// to change each database, and checks the database again.
func TestWritePages(t *testing.T) {
	for seed, n := range []int{0, 1, 2, 10, 100, 1000, 2999, 3000, 3001, 20000} {
		for _, pageSize := range []int{4096, 16384} {
			t.Run(fmt.Sprintf("%d entries, pages of %d", n, pageSize), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(pageSize)))
				buckets := map[string]map[string]string{"a": randomEntries(r, n), "b": {}, "c": randomEntries(r, n/2), "d": {"k": ""}}
				path := filepath.Join(t.TempDir(), "db")
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				writeEntries(t, f, pageSize, buckets)
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				checkTrees(t, path, true)
				changeFile(t, r, path, buckets)
				checkTrees(t, path, false)
			})
		}
	}
}

// checkTrees checks all pages with the code of this package. If the argument "whole" is true, no
// page may be free.
func checkTrees(t *testing.T, path string, whole bool) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	h, damaged, err := readHeader(f, info.Size())
	if err != nil || damaged {
		t.Fatalf("readHeader = %+v, damaged %v, %v", h, damaged, err)
	}
	lost, err := checkPages(f, h)
	if err != nil || lost != 0 {
		t.Fatalf("checkPages = %d lost, %v", lost, err)
	}
	if whole && info.Size() != int64(h.next)*h.pageSize {
		t.Errorf("the file has %d bytes; want %d pages of %d", info.Size(), h.next, h.pageSize)
	}
}

// changeFile compares a file with the expected entries and changes some of the entries with bbolt.
func changeFile(t *testing.T, r *rand.Rand, path string, buckets map[string]map[string]string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	same := func(tx *bbolt.Tx) error {
		for name, want := range buckets {
			n := 0
			err := tx.Bucket([]byte(name)).ForEach(func(k, v []byte) error {
				if n++; want[string(k)] != string(v) {
					return fmt.Errorf("bucket %s has %d bytes under %q", name, len(v), k)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if n != len(want) {
				return fmt.Errorf("bucket %s has %d entries; want %d", name, n, len(want))
			}
		}
		for err := range tx.Check() {
			return err
		}
		return nil
	}
	if err := db.View(same); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := db.Update(func(tx *bbolt.Tx) error {
			for name, entries := range buckets {
				b := tx.Bucket([]byte(name))
				for k := range maps.Clone(entries) {
					if r.IntN(3) == 0 {
						delete(entries, k)
						if err := b.Delete([]byte(k)); err != nil {
							return err
						}
					}
				}
				for k, v := range randomEntries(r, 20) {
					entries[k] = v
					if err := b.Put([]byte(k), []byte(v)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.View(same); err != nil {
			t.Fatal(err)
		}
	}
}
