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
	// meterEvery is how long usage waits to be written: a process that is killed loses as much.
	meterEvery = 30 * time.Second
	// meterTime is how long writing it may take.
	meterTime = 10 * time.Second
)

// Meter is the usage of a Host's runs. It adds up what they used and writes it now and then: a commit for each run would
// make all runs of a tenant write the same record. It is safe for concurrent use.
type Meter struct {
	kept *metering.Meter
	log  *slog.Logger

	flushing sync.Mutex // one flush at a time

	mu      sync.Mutex
	pending map[meterKey]metering.Counts
	timer   *time.Timer // nil if nothing is pending
	closed  bool
}

// meterKey is a day of a tenant.
type meterKey struct {
	tenant string
	day    time.Time
}

// add adds the usage of a run that began at a time.
func (m *Meter) add(tenant string, at time.Time, used metering.Counts) {
	if !m.kept.Enabled() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(meterKey{tenant, at.UTC().Truncate(24 * time.Hour)}, used)
}

// put adds to what is pending. The caller holds mu.
func (m *Meter) put(key meterKey, used metering.Counts) {
	if m.pending == nil {
		m.pending = map[meterKey]metering.Counts{}
	}
	m.pending[key] = m.pending[key].Plus(used)
	if m.timer == nil && !m.closed {
		m.timer = time.AfterFunc(meterEvery, func() { _ = m.Flush() }) // which logs
	}
}

// Flush writes the usage of the runs that have ended, which otherwise takes up to 30 seconds. What cannot be written stays pending, unless it may have been: nothing is counted twice.
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
		err := m.kept.Add(ctx, key.tenant, key.day, used)
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
		m.log.Error("the usage of runs cannot be written", "days", len(errs), "error", err)
	}
	return err
}

// close writes what is left.
func (m *Meter) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	_ = m.Flush()
}

// used returns the usage that a run adds to that of its app.
func (r *run) used(result *report.Result) metering.Counts {
	used := metering.Counts{CPUMS: milliseconds(r.cpu)}
	switch r.info.Outcome {
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

// Usage returns what the app uses in the caller's tenant: what is stored now, and what runs used on the days from since
// on and before until, in UTC; zero means no bound. Days are kept for Options.Metering.
func (m *Meter) Usage(ctx context.Context, caller Caller, since, until time.Time) (metering.Usage, error) {
	if err := m.Flush(); err != nil {
		return metering.Usage{}, err
	}
	return m.kept.Usage(ctx, caller.as("").Tenant, since, until)
}
