package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// pauseState is the content of the record that marks the runs of a tenant as paused.
type pauseState struct {
	Since time.Time `json:"since"`
}

// SetPaused pauses or resumes a tenant's runs that process transcripts. SetPaused does not stop a
// run that is in progress.
func (q SleepQueue) SetPaused(ctx context.Context, tenant string, paused bool) error {
	caller := partition.Caller{Tenant: tenant}
	if err := caller.Check(); err != nil {
		return err
	}
	key := q.s.app.System(partition.SleepPaused, caller)
	err := records.Swap(ctx, q.s.backend, key, func(now storage.Record) ([]storage.Write, error) {
		switch {
		case now.Exists() == paused:
			return nil, nil
		case !paused:
			return []storage.Write{{Record: storage.Record{Key: key}, Delete: true}}, nil
		}
		return q.s.records.Write(nil, now, key, pauseState{q.s.now()}, time.Time{}, caller)
	})
	return q.s.records.Fault("pause the queue", err)
}

// Paused reports whether a tenant's runs that process transcripts are paused. If they are paused,
// the second result is the time of the pause.
func (q SleepQueue) Paused(ctx context.Context, tenant string) (since time.Time, paused bool, err error) {
	r, err := q.s.records.Get(ctx, q.s.app.System(partition.SleepPaused, partition.Caller{Tenant: tenant}))
	if err != nil || !r.Exists() {
		return since, false, q.s.records.Fault(listing, err)
	}
	var state pauseState
	if err := json.Unmarshal(r.Content, &state); err != nil {
		return since, false, q.s.records.Fault(listing, fmt.Errorf("pause: %w: %w", storage.ErrCorrupt, err))
	}
	return state.Since, true, nil
}
