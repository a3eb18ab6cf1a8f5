package bolt_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := visit(filepath.Join(dir, "toolrun.db")); err != nil {
		fmt.Println(err)
	}
	if err := visit(filepath.Join(dir, "toolrun.db")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// visit 1
	// visit 2
}

// visit opens the database and increments a counter.
func visit(path string) error {
	backend, err := bolt.Open(path, nil)
	if err != nil {
		return err
	}
	defer backend.Close()
	ctx := context.Background()
	key := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.Store, Value: "visits"})
	err = backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		next := storage.Record{Key: key, Revision: now[0].Revision + 1, Content: []byte(`{}`)}
		return []storage.Write{{Record: next}}, nil
	})
	if err != nil {
		return err
	}
	records, err := backend.Get(ctx, key)
	if err != nil {
		return err
	}
	fmt.Println("visit", records[0].Revision)
	return nil
}

func ExampleCheck() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "toolrun.db")
	backend, err := bolt.Open(path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	backend.Close()

	report, err := bolt.Check(path)
	fmt.Println(report.OK(), report.Records, err)
	// Output: true 0 <nil>
}
