package mem_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
)

func Example() {
	ctx := context.Background()
	backend := mem.New()
	defer backend.Close()

	key := storage.MakeKey(
		storage.Part{Tag: storage.Tenant, Value: "acme"},
		storage.Part{Tag: storage.App, Value: "shop"},
		storage.Part{Tag: storage.Store, Value: "prices"},
	)
	// The callback receives the stored records and returns the new records. The read and the write
	// happen in one atomic step.
	err := backend.Update(ctx, storage.Keys(key), func(now []storage.Record) ([]storage.Write, error) {
		next := storage.Record{Key: key, Revision: now[0].Revision + 1, Content: []byte(`{"apple":3}`)}
		return []storage.Write{{Record: next}}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	records, err := backend.Get(ctx, key)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(records[0].Key, records[0].Revision, string(records[0].Content))
	// Output: tenant=acme/app=shop/store=prices 1 {"apple":3}
}
