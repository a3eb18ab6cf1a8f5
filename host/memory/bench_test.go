package memory_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// BenchmarkTransact measures the part of a run that package memory executes. The benchmark uses no
// engine and no disk.
func BenchmarkTransact(b *testing.B) {
	service, err := memory.New(memory.Config{App: "shop", Backend: mem.New(), Stores: stores()})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	content := json.RawMessage(`{"language":"en","count":1}`)
	tx := memory.Tx{Caller: partition.Caller{Tenant: "acme", User: "ann", Run: "r"}, Authority: memory.Granted([]declare.Grant{{Store: "prefs", Verbs: []abi.Verb{abi.Read, abi.Write}}})}
	get := abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"prefs"`)}}
	set := abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"prefs"`), content}}
	cases := []struct {
		name  string
		calls []abi.Call
	}{{"nothing", nil}, {"get", []abi.Call{get}}, {"set", []abi.Call{set}}, {"get then set", []abi.Call{get, set}}}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := service.Transact(ctx, &tx, func(ctx context.Context, v *memory.View) error {
					for _, call := range c.calls {
						if _, err := v.Call(ctx, call); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
