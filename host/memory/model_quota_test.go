package memory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
)

// If a write exceeds the quota, the call of the write must fail. A fault at the commit is not
// sufficient. If only the commit failed, the host would repeat the attempt until its deadline, and
// the tool code would get no fault.
func TestQuotaFaultAtTheCall(t *testing.T) {
	set := func(store string) abi.Call { return call(abi.SetContent, store, `{"a":"0123456789"}`) }
	remove := func(store string) abi.Call { return call(abi.DeleteContent, store) }
	tests := []struct {
		name    string
		records int64 // the limit of the app
		calls   []abi.Call
	}{
		{"a record comes back", 1, []abi.Call{remove(`"notes"`), set(`"flags"`), set(`"notes"`)}},
		{"another record comes", 1, []abi.Call{set(`"flags"`)}},
		{"two come at once", 2, []abi.Call{set(`"flags"`), set(`"cart"`)}},
		{"two swap", 1, []abi.Call{remove(`"notes"`), set(`"flags"`), remove(`"flags"`), set(`"notes"`), set(`"cart"`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newApp(t, func(cfg *memory.Config) { cfg.Limits.AppRecords = tt.records })
			if _, _, err := a.Do(context.Background(), ann, memory.Operator(), set(`"notes"`)); err != nil {
				t.Fatal(err)
			}
			executions := 0
			done, err := a.transact(ann, func(ctx context.Context, v *memory.View) error {
				if executions++; executions > 1 {
					return errors.New("executed again without a conflict")
				}
				for _, c := range tt.calls {
					if _, err := v.Call(ctx, c); err != nil {
						return err
					}
				}
				return nil
			})
			if !errors.Is(err, abi.QuotaExceeded) {
				t.Errorf("Transact = %v after %d attempts; want quota_exceeded", err, done.Attempts)
			}
		})
	}
}
