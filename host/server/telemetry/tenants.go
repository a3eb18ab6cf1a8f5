package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolrun/toolrun/host/report"
)

// tenants are the metrics by tenant. Their labels are bounded: a tenant that is not in the list, and is not among the
// first ones, is counted as other.
type tenants struct {
	runs       *prometheus.CounterVec
	cpu, wait  *prometheus.CounterVec
	inProgress *prometheus.GaugeVec
	limited    *prometheus.CounterVec
	on         bool
	mu         sync.RWMutex
	labels     map[string]bool
	left       int // how many more tenants get a label
}

func newTenants(opts Options) *tenants {
	t := &tenants{
		runs:       counter("toolrun_tenant_runs_total", "Runs, by what became of them: executed, repeated, refused or not_started.", "tenant", "outcome"),
		cpu:        counter("toolrun_tenant_run_cpu_seconds_total", "Processor time of tools.", "tenant"),
		wait:       counter("toolrun_tenant_run_wait_seconds_total", "How long attempts waited for their turn to run, or runs for one that did not come.", "tenant"),
		inProgress: gauge("toolrun_tenant_runs_in_progress", "Runs that have begun and not yet ended.", "tenant"),
		limited:    counter("toolrun_tenant_requests_limited_total", "Requests that were answered 429 because their caller sent more than --rate.", "tenant"),
		on:         len(opts.Tenants) > 0 || opts.FirstTenants > 0, labels: map[string]bool{}, left: opts.FirstTenants,
	}
	for _, id := range opts.Tenants {
		t.labels[id] = true
	}
	return t
}

// label returns the label of a tenant. It stays the same for as long as the process runs.
func (t *tenants) label(id string) string {
	t.mu.RLock()
	known, full := t.labels[id], t.left == 0
	t.mu.RUnlock()
	switch {
	case id == other: // or it would be counted with the others, or the others with it
		return other
	case known:
		return id
	case full:
		return other
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.labels[id] {
		if t.left == 0 {
			return other
		}
		t.labels[id] = true
		t.left--
	}
	return id
}

func (t *tenants) began(id string) {
	if t.on {
		t.inProgress.WithLabelValues(t.label(id)).Inc()
	}
}

func (t *tenants) waited(id string, seconds float64) {
	if t.on {
		t.wait.WithLabelValues(t.label(id)).Add(max(0, seconds))
	}
}

// Limited counts a request of a tenant that was refused because its caller sends too many.
func (t *Telemetry) Limited(tenant string) {
	if t.tenants.on {
		t.tenants.limited.WithLabelValues(t.tenants.label(tenant)).Inc()
	}
}

// ended counts a run; began reports whether it was counted as begun.
func (t *tenants) ended(id, outcome string, began bool, result *report.Result) {
	if !t.on {
		return
	}
	label := t.label(id)
	if began {
		t.inProgress.WithLabelValues(label).Dec()
	}
	t.runs.WithLabelValues(label, outcome).Inc()
	if !result.Repeated {
		t.cpu.WithLabelValues(label).Add(max(0, result.Usage.CPUMS/1000))
	}
}
