package memory

import (
	"context"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// maxRetried limits how many runs one call of Retry makes due.
	maxRetried = 1000
	// maxRetryHeads limits, approximately, how many records one call of Retry examines.
	maxRetryHeads = 100_000
)

// Retry makes the failed runs of a tenant due at once, and returns the number of these runs. Retry
// changes at most 1,000 runs. The earlier failures of these runs no longer count toward the maximum
// number of failed runs of a conversation. Retry does not change runs in progress. Retry also does
// not change conversations without a failed run.
func (q SleepQueue) Retry(ctx context.Context, tenant string) (retried int, err error) {
	prefix := q.s.app.System(partition.SleepDue, partition.Caller{Tenant: tenant})
	after := storage.Key("")
	for examined := 0; examined < maxRetryHeads && retried < maxRetried; {
		heads, err := q.s.backend.Heads(ctx, prefix, after, records.Chunk)
		if err != nil {
			return retried, q.s.records.Fault(listing, err)
		}
		n, err := q.retryIn(ctx, heads, tenant, maxRetried-retried)
		if retried += n; err != nil || len(heads) < records.Chunk {
			return retried, err
		}
		examined, after = examined+len(heads), heads[len(heads)-1].Key
	}
	return retried, nil
}

// retryIn examines the heads of some records and makes the failed runs of these records due. The
// argument "limit" is the maximum number of runs that retryIn makes due.
func (q SleepQueue) retryIn(ctx context.Context, heads []storage.Head, tenant string, limit int) (retried int, err error) {
	var waiting []Due
	for _, h := range heads {
		if d, ok := dueOf(h, tenant); ok && d.At.After(q.s.now()) && !h.Expired(q.s.now()) {
			waiting = append(waiting, d)
		}
	}
	if waiting, err = q.withStates(ctx, waiting); err != nil {
		return 0, q.s.records.Fault(listing, err)
	}
	for _, d := range waiting {
		if d.Code == "" || d.Leased || retried == limit {
			continue
		}
		changed, err := q.makeDue(ctx, d)
		if err != nil {
			return retried, err
		}
		if changed {
			retried++
		}
	}
	return retried, nil
}

// makeDue makes the run of a record due at once. If the run was started or rescheduled after the
// record was read, makeDue changes nothing and returns false.
func (q SleepQueue) makeDue(ctx context.Context, d Due) (changed bool, err error) {
	err = q.transact(ctx, d.caller(), func(ctx context.Context, v *View) error {
		t, err := OpenTranscript(ctx, v, d.Session)
		if changed = err == nil && t.State.Due.Equal(d.At); !changed {
			return err
		}
		state, err := t.scheduled(ctx)
		if changed = err == nil && !state.Leased; !changed {
			return err
		}
		state.Tries = 0
		return t.schedule(ctx, v.Now(), state)
	})
	return changed && err == nil, err
}
