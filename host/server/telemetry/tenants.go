package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolrun/toolrun/host/report"
)

// tenants contains the metrics by tenant. The number of labels is limited: a tenant that is neither
// listed nor among the first tenants gets the label "other".
type tenants struct {
	runs       *prometheus.CounterVec
	cpu, wait  *prometheus.CounterVec
	inProgress *prometheus.GaugeVec
	limited    *prometheus.CounterVec
	on         bool
	mu         sync.RWMutex
	labels     map[string]bool
	left       int // number of additional tenants that can get a label
}

func newTenants(opts Options) *tenants {
	t := &tenants{
		runs:       counter("toolrun_tenant_runs_total", "Runs, by outcome: executed, repeated, refused or not_started.", "tenant", "outcome"),
		cpu:        counter("toolrun_tenant_run_cpu_seconds_total", "CPU time of tools.", "tenant"),
		wait:       counter("toolrun_tenant_run_wait_seconds_total", "Queue time of attempts, and of runs that were not executed.", "tenant"),
		inProgress: gauge("toolrun_tenant_runs_in_progress", "Runs in progress.", "tenant"),
		limited:    counter("toolrun_tenant_requests_limited_total", "Requests that were rejected with status 429 because their caller exceeded --rate.", "tenant"),
		on:         len(opts.Tenants) > 0 || opts.FirstTenants > 0, labels: map[string]bool{}, left: opts.FirstTenants,
	}
	for _, id := range opts.Tenants {
		t.labels[id] = true
	}
	return t
}

// label returns the label of a tenant. The label does not change while the process runs.
func (t *tenants) label(id string) string {
	t.mu.RLock()
	known, full := t.labels[id], t.left == 0
	t.mu.RUnlock()
	switch {
	case id == other: // a tenant with the id "other" shares the label
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

// Limited counts a request that was rejected because its principal exceeded the rate limit.
func (t *Telemetry) Limited(tenant string) {
	if t.tenants.on {
		t.tenants.limited.WithLabelValues(t.tenants.label(tenant)).Inc()
	}
}

// ended counts a run that has ended. The argument "began" is true if the run was counted as in
// progress.
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
