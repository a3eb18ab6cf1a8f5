package storagetest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

func ExampleFaulty() {
	ctx := context.Background()
	backend := storagetest.NewFaulty(mem.New())
	backend.Fail(storagetest.OpUpdate, 1, storagetest.LostReply)

	key := storage.MakeKey(storage.Part{Tag: storage.Store, Value: "s"})
	err := backend.Update(ctx, storage.Keys(key), func([]storage.Record) ([]storage.Write, error) {
		return []storage.Write{{Record: storage.Record{Key: key, Revision: 1, Content: []byte(`{}`)}}}, nil
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, storage.ErrUnknownOutcome))

	records, err := backend.Get(ctx, key)
	fmt.Println(len(records), records[0].Exists(), err)
	// Output:
	// update: injected failure: the outcome of the commit is unknown
	// true
	// 1 true <nil>
}
