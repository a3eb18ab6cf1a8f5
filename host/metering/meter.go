package metering

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/records"
	"github.com/toolrun/toolrun/host/storage"
)

// Counts is the usage of the runs of an app in a tenant over a period.
type Counts struct {
	// Runs is the number of runs whose tool was executed. Failed is the number of executed runs
	// that ended with a fault.
	Runs   int64 `json:"runs"`
	Failed int64 `json:"failed"`
	// Repeated is the number of runs that were answered with an earlier Result. Refused and
	// NotStarted are the numbers of runs that were rejected or not started, so that no tool was
	// executed.
	Repeated   int64 `json:"repeated"`
	Refused    int64 `json:"refused"`
	NotStarted int64 `json:"not_started"`
	// CPUMS is the processor time of tools in milliseconds, including all attempts.
	CPUMS float64 `json:"cpu_ms"`
	// ModelCalls is the number of requests of tools and agents to models. A repeated answer does
	// not count as a request. InputTokens and OutputTokens are the numbers of tokens in the
	// requests to models and in the answers. ModelCalls, InputTokens and OutputTokens include the
	// requests of failed runs.
	ModelCalls   int64 `json:"model_calls,omitempty"`
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
}

// Plus returns the sum of two Counts.
func (c Counts) Plus(other Counts) Counts {
	return Counts{
		Runs: c.Runs + other.Runs, Failed: c.Failed + other.Failed, Repeated: c.Repeated + other.Repeated,
		Refused: c.Refused + other.Refused, NotStarted: c.NotStarted + other.NotStarted, CPUMS: c.CPUMS + other.CPUMS,
		ModelCalls: c.ModelCalls + other.ModelCalls, InputTokens: c.InputTokens + other.InputTokens, OutputTokens: c.OutputTokens + other.OutputTokens,
	}
}

// Meter records the usage of an app for each tenant and day. Meter is safe for concurrent use.
type Meter struct {
	db        *records.DB
	retention time.Duration
}

// New returns the Meter of an app. The argument db contains the records of the app. The argument
// retention is the time for which the usage of a day is kept. If retention is 0, the Meter is
// disabled.
func New(db *records.DB, retention time.Duration) *Meter { return &Meter{db: db, retention: retention} }

// Enabled reports whether the usage of runs is recorded.
func (m *Meter) Enabled() bool { return m.retention > 0 }

// dayFormat is the format of days, which are in UTC.
const dayFormat = time.DateOnly

// keyOf returns the key of the usage of a day. If day is "", keyOf returns the prefix of the keys
// of all days.
func keyOf(app partition.App, tenant, day string) storage.Key {
	return app.System(partition.Metering, partition.Caller{Tenant: tenant}, storage.Part{Tag: storage.Item, Value: day})
}

// If the Meter is enabled, Add adds counts to the usage of a tenant on the day of a time.
func (m *Meter) Add(ctx context.Context, tenant string, at time.Time, used Counts) error {
	if !m.Enabled() {
		return nil
	}
	at = at.UTC()
	key := keyOf(m.db.App, tenant, at.Format(dayFormat))
	err := records.Swap(ctx, m.db.Backend, key, func(now storage.Record) ([]storage.Write, error) {
		sum, err := decode(now)
		if err != nil {
			return nil, err
		}
		expires := at.Truncate(24 * time.Hour).Add(24*time.Hour + m.retention)
		return m.db.Write(nil, now, key, sum.Plus(used), expires, partition.Caller{})
	})
	if err != nil {
		return fmt.Errorf("store the usage: %w", err)
	}
	return nil
}

func decode(r storage.Record) (c Counts, err error) {
	if !r.Exists() {
		return c, nil
	}
	if err := json.Unmarshal(r.Content, &c); err != nil {
		return c, fmt.Errorf("usage of a day: %w: %w", storage.ErrCorrupt, err)
	}
	return c, nil
}
