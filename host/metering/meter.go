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

// Counts is the usage of runs over a period. The runs belong to one app and one tenant.
type Counts struct {
	// Runs is the number of runs whose tool was executed. Failed is the number of executed runs
	// that ended with a fault.
	Runs   int64 `json:"runs"`
	Failed int64 `json:"failed"`
	// Repeated is the number of runs that did not execute their tool, because an earlier Result was
	// returned. Refused is the number of rejected runs. NotStarted is the number of runs that could
	// not start. If a run was rejected or could not start, no tool was executed.
	Repeated   int64 `json:"repeated"`
	Refused    int64 `json:"refused"`
	NotStarted int64 `json:"not_started"`
	// CPUMS is the processor time of tools in milliseconds. All attempts of a run count.
	CPUMS float64 `json:"cpu_ms"`
	// ModelCalls is the number of requests that tools and agents have sent to models. If the host
	// repeats an earlier answer, this does not count as a request. InputTokens is the number of
	// tokens in the requests to models. OutputTokens is the number of tokens in the answers of
	// models. ModelCalls, InputTokens and OutputTokens include the requests of failed runs.
	ModelCalls   int64 `json:"model_calls,omitempty"`
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
}

// Plus returns the sum of two values of the type Counts.
func (c Counts) Plus(other Counts) Counts {
	return Counts{
		Runs: c.Runs + other.Runs, Failed: c.Failed + other.Failed, Repeated: c.Repeated + other.Repeated,
		Refused: c.Refused + other.Refused, NotStarted: c.NotStarted + other.NotStarted, CPUMS: c.CPUMS + other.CPUMS,
		ModelCalls: c.ModelCalls + other.ModelCalls, InputTokens: c.InputTokens + other.InputTokens, OutputTokens: c.OutputTokens + other.OutputTokens,
	}
}

// A Meter records the usage of one app, separately for each tenant and day. Meter is safe for
// concurrent use.
type Meter struct {
	db        *records.DB
	retention time.Duration
}

// New returns the Meter of an app. The argument "db" contains the records of the app. The argument
// "retention" is the time for which the usage of a day is kept. If the retention is 0, the Meter is
// disabled.
func New(db *records.DB, retention time.Duration) *Meter { return &Meter{db: db, retention: retention} }

// Enabled reports whether the Meter records the usage of runs.
func (m *Meter) Enabled() bool { return m.retention > 0 }

// dayFormat is the format of a day. All days are in UTC.
const dayFormat = time.DateOnly

// keyOf returns the key of the record that contains the usage of a day. If day is "", keyOf returns
// the prefix of the keys of all days.
func keyOf(app partition.App, tenant, day string) storage.Key {
	return app.System(partition.Metering, partition.Caller{Tenant: tenant}, storage.Part{Tag: storage.Item, Value: day})
}

// Add adds counts to the usage of a tenant on one day. The day is the day of the time "at". If the
// Meter is disabled, Add does nothing.
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
