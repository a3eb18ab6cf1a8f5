package memory

import (
	"context"
	"errors"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
)

// Limits of Unfit.
const (
	unfitRecords = 10_000
	unfitBytes   = 32 << 20
)

// Unfit checks the records of a store in a tenant. Unfit counts the records that do not match the
// given declaration. Unfit checks at most 10,000 records and at most 32 MiB of contents. The result
// "all" reports whether Unfit checked every record.
func (s *Service) Unfit(ctx context.Context, tenant string, decl declare.Store) (unfit int, all bool, err error) {
	st, err := s.kinds.compile(decl, s.limits.content())
	if err != nil {
		return 0, false, abi.Faultf(abi.InvalidArgument, "the store %q: %v", decl.Name, err)
	}
	records, bytes := 0, 0
	err = s.records.Scan(ctx, s.app.Group(partition.Caller{Tenant: tenant}), func(chunk []storage.Record) error {
		for _, r := range chunk {
			if records++; records > unfitRecords || bytes > unfitBytes {
				return errStop
			}
			if r.Key.Part(storage.Store) != decl.Name || !s.now().Before(st.endOf(r)) {
				continue
			}
			bytes += len(r.Content)
			if !st.compiled.Fits(r) {
				unfit++
			}
		}
		return ctx.Err()
	})
	if errors.Is(err, errStop) {
		return unfit, false, nil
	}
	return unfit, true, s.records.Fault("check records", err)
}

var errStop = errors.New("stop")
