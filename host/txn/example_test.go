package txn_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/txn"
)

func ExampleDB_Run() {
	ctx := context.Background()
	db := txn.New(txn.Config{Backend: mem.New()})
	visits := storage.MakeKey(storage.Part{Tag: storage.Tenant, Value: "acme"}, storage.Part{Tag: storage.App, Value: "shop"},
		storage.Part{Tag: storage.Store, Value: "visits"})
	out, err := db.Run(ctx, txn.Options{ID: "run-1"}, func(ctx context.Context, tx *txn.Tx) error {
		before, err := tx.Get(ctx, visits)
		if err != nil {
			return err
		}
		return tx.Apply(ctx, visits, func(*storage.Record, bool) (txn.State, any, error) {
			return txn.State{Content: fmt.Appendf(nil, "%d", len(before.Content)+1)}, nil, nil
		})
	})
	fmt.Println(out.Committed, string(out.Writes[0].New.Content), err)
	// Output: true 1 <nil>
}
