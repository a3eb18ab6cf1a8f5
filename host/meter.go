package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// meterEvery is the interval at which usage is written. If the process is killed, the usage
	// since the last write is lost.
	meterEvery = 30 * time.Second
	// meterTime is the time limit for writing usage.
	meterTime = 10 * time.Second
)

// Meter measures the usage of a Host's runs. Meter adds up usage in RAM and writes the totals
// periodically. If every run wrote its own usage, all runs of a tenant would write the same record.
// Meter is safe for concurrent use.
type Meter struct {
	store *metering.Meter
	log   *slog.Logger

	flushing sync.Mutex // serializes flushes

	mu      sync.Mutex
	pending map[meterKey]metering.Counts
	timer   *time.Timer // timer is nil if no usage is pending
	closed  bool
}

// meterKey identifies one day of one tenant.
type meterKey struct {
	tenant string
	day    time.Time
}

// add adds the usage of a run to the usage of the day on which the run began.
func (m *Meter) add(tenant string, at time.Time, used metering.Counts) {
	if !m.store.Enabled() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(meterKey{tenant, at.UTC().Truncate(24 * time.Hour)}, used)
}

// put adds usage to the pending usage. The caller must hold mu.
func (m *Meter) put(key meterKey, used metering.Counts) {
	if m.pending == nil {
		m.pending = map[meterKey]metering.Counts{}
	}
	m.pending[key] = m.pending[key].Plus(used)
	if m.timer == nil && !m.closed {
		m.timer = time.AfterFunc(meterEvery, func() { _ = m.Flush() }) // Flush logs the error
	}
}

// Flush writes the pending usage immediately. If Flush is not called, pending usage is written
// within 30 seconds. If writing some usage fails, this usage stays pending. If it is unknown
// whether some usage was written, this usage is dropped. Therefore no usage is counted twice.
func (m *Meter) Flush() error {
	m.flushing.Lock()
	defer m.flushing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), meterTime)
	defer cancel()
	m.mu.Lock()
	pending := m.pending
	m.pending = nil
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	m.mu.Unlock()
	var errs []error
	for key, used := range pending {
		err := m.store.Add(ctx, key.tenant, key.day, used)
		if err == nil {
			continue
		}
		errs = append(errs, err)
		if !errors.Is(err, storage.ErrUnknownOutcome) {
			m.mu.Lock()
			m.put(key, used)
			m.mu.Unlock()
		}
	}
	err := errors.Join(errs...)
	if err != nil {
		m.log.Error("cannot write the usage of runs", "days", len(errs), "error", err)
	}
	return err
}

// close writes the pending usage.
func (m *Meter) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	_ = m.Flush()
}

// used returns the usage of a completed job.
func (j *job) used(result *report.Result) metering.Counts {
	models := j.external.used()
	used := metering.Counts{
		CPUMS: milliseconds(j.cpu), ModelCalls: int64(models.Calls),
		InputTokens: int64(models.InputTokens), OutputTokens: int64(models.OutputTokens),
	}
	switch j.info.Outcome {
	case OutcomeExecuted:
		used.Runs = 1
		if result.Error != nil {
			used.Failed = 1
		}
	case OutcomeRepeated:
		used.Repeated = 1
	case OutcomeRefused:
		used.Refused = 1
	default:
		used.NotStarted = 1
	}
	return used
}

// Usage returns the usage of the app in the caller's tenant. The result contains the current size
// of the stored data, and the total usage of the runs over a range of UTC days. The first day is
// the argument "since", and the last day is the day before the argument "until". If one of these
// arguments is the zero time, the period has no bound on that side. The usage of a day is kept for
// the duration Options.Metering.
func (m *Meter) Usage(ctx context.Context, caller Caller, since, until time.Time) (metering.Usage, error) {
	if err := m.Flush(); err != nil {
		return metering.Usage{}, err
	}
	return m.store.Usage(ctx, caller.as("").Tenant, since, until)
}
