package ledger

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// Trim removes the oldest entries of a tenant's ledger that is larger than MaxBytes, until the size
// is nine tenths of MaxBytes. Between two calls to Trim, the ledger can exceed MaxBytes.
func (l *Ledger) Trim(ctx context.Context, tenant string) error {
	prefix := l.Prefix(partition.Caller{Tenant: tenant})
	usage, err := l.db.Backend.Usage(ctx, prefix)
	if err != nil || usage[0].Bytes <= l.cfg.MaxBytes {
		return err
	}
	excess, entries := usage[0].Bytes-l.cfg.MaxBytes/10*9, 0
	for excess > 0 {
		oldest, err := l.db.Backend.Heads(ctx, prefix, "", records.Chunk)
		if err != nil || len(oldest) == 0 {
			return err
		}
		var keys []storage.Key
		for _, h := range oldest {
			if excess <= 0 {
				break
			}
			keys, excess = append(keys, h.Key), excess-h.Size()
		}
		n, err := l.db.Remove(ctx, keys, func(storage.Head) {})
		if entries += n; err != nil {
			return err
		}
	}
	l.db.Log().Warn("the ledger exceeded its limit; its oldest entries were removed", "tenant", tenant, "app", string(l.db.App), "entries", entries)
	return nil
}
