package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/host/storage"
)

const (
	// meterEvery is how long usage waits to be written: a process that is killed loses as much.
	meterEvery = 30 * time.Second
	// meterTime is how long writing it may take.
	meterTime = 10 * time.Second
)

// meter adds up what runs used, and writes it now and then: a commit for each run would make all runs of a tenant
// write the same record.
type meter struct {
	memory *memory.Service
	log    *slog.Logger

	flushing sync.Mutex // one flush at a time

	mu      sync.Mutex
	pending map[meterKey]memory.Metered
	timer   *time.Timer // nil if nothing is pending
	closed  bool
}

// meterKey is a day of a tenant.
type meterKey struct {
	tenant string
	day    time.Time
}

// add adds the usage of a run that began at a time.
func (m *meter) add(tenant string, at time.Time, used memory.Metered) {
	if !m.memory.Meters() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(meterKey{tenant, at.UTC().Truncate(24 * time.Hour)}, used)
}

// put adds to what is pending. The caller holds mu.
func (m *meter) put(key meterKey, used memory.Metered) {
	if m.pending == nil {
		m.pending = map[meterKey]memory.Metered{}
	}
	m.pending[key] = m.pending[key].Plus(used)
	if m.timer == nil && !m.closed {
		m.timer = time.AfterFunc(meterEvery, func() { _ = m.flush() }) // which logs
	}
}

// flush writes what is pending. What cannot be written stays pending, unless it may have been: nothing is counted twice.
func (m *meter) flush() error {
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
		err := m.memory.Meter(ctx, key.tenant, key.day, used)
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
func (m *meter) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	_ = m.flush()
}

// used returns the usage that a run adds to that of its app.
func (r *run) used(result *report.Result) memory.Metered {
	used := memory.Metered{CPUMS: milliseconds(r.cpu)}
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
func (h *Host) Usage(ctx context.Context, caller Caller, since, until time.Time) (memory.AppUsage, error) {
	if err := h.FlushUsage(); err != nil {
		return memory.AppUsage{}, err
	}
	return h.memory.Usage(ctx, h.caller(caller, "").Tenant, since, until)
}

// FlushUsage writes the usage of the runs that have ended, which otherwise takes up to 30 seconds.
func (h *Host) FlushUsage() error { return h.meter.flush() }
