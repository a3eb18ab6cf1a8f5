package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/partition"
)

// inProcess runs tools in this process.
func inProcess(o *host.Options) { o.Engines = engines.InProcess() }

// p99 returns the 99th percentile of a list of durations.
func p99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100]
}

// setNotes writes the notes of Ann in a separate transaction.
func setNotes(ctx context.Context, h *host.Host, content string) error {
	tx := memory.Tx{Caller: partition.Caller{Tenant: host.DefaultTenant, User: "ann", Run: "other"}, Authority: memory.Operator()}
	_, err := h.Memory().Transact(ctx, &tx, func(ctx context.Context, v *memory.View) error {
		_, err := v.Call(ctx, abi.Call{Op: abi.SetContent, Args: []json.RawMessage{json.RawMessage(`"notes"`), json.RawMessage(content)}})
		return err
	})
	return err
}
