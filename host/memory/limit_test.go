package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/txn"
)

// If an attempt reads more records than the limit, the read fails with call_limit. The attempt can
// still use the records that it read before.
func TestTooManyRecords(t *testing.T) {
	a := newApp(t, func(cfg *memory.Config) {
		cfg.Stores, cfg.Limits.Stores = nil, txn.MaxRecords+1
		for i := range txn.MaxRecords + 1 {
			cfg.Stores = append(cfg.Stores, declare.Store{Name: fmt.Sprint("s", i), Access: declare.ScopeApplication})
		}
	})
	_, err := a.transact(caller("", ""), func(ctx context.Context, v *memory.View) error {
		for i := range txn.MaxRecords {
			mustCall(t, ctx, v, abi.GetContent, fmt.Sprintf(`"s%d"`, i))
		}
		if _, err := v.Call(ctx, call(abi.GetContent, fmt.Sprintf(`"s%d"`, txn.MaxRecords))); !errors.Is(err, abi.CallLimit) {
			t.Errorf("read of one more record = %v; want call_limit", err)
		}
		mustCall(t, ctx, v, abi.SetContent, `"s0"`, `{"a":1}`)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
