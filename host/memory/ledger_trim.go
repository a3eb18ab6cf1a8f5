package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/storage"
)

// trimLedger removes the oldest entries of a tenant's ledger where it has more than Limits.LedgerBytes, until it
// has a tenth less. Runs under way add to it meanwhile, so that the ledger may be somewhat larger between two sweeps.
func (s *Service) trimLedger(ctx context.Context, tenant string) error {
	prefix := s.system(systemLedger, Caller{Tenant: tenant})
	records, err := s.backend.Get(ctx, storage.UsageKey(prefix))
	if err != nil {
		return err
	}
	usage, err := storage.DecodeUsage(records[0])
	if err != nil || usage.Bytes <= s.limits.LedgerBytes {
		return err
	}
	excess, entries := usage.Bytes-s.limits.LedgerBytes/10*9, 0
	for excess > 0 {
		oldest, err := s.backend.Heads(ctx, prefix, "", dropChunk)
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
		n, err := s.removeKeys(ctx, keys, func(storage.Head) {})
		if entries += n; err != nil {
			return err
		}
	}
	s.log.Warn("the ledger is larger than it may be; its oldest entries were removed", "tenant", tenant, "app", s.app, "entries", entries)
	return nil
}
