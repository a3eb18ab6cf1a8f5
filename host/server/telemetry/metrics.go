package telemetry

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/toolrun/toolrun/abi"
)

// metrics contains the metrics of a process. Each label has a limited set of values; see labels.go.
type metrics struct {
	runsInProgress, httpInFlight                                            *prometheus.GaugeVec
	runs, repeated, conflicts, cpuSeconds, calls, logs, effects, sessions   *prometheus.CounterVec
	agentTurns, sleepRuns, httpRequests, modelCalls, modelTokens, workflows *prometheus.CounterVec
	runSeconds, runAttempts, turnSeconds, sleepSeconds                      *prometheus.HistogramVec
	waitSeconds, callSeconds, httpSeconds                                   *prometheus.HistogramVec
	unrecorded                                                              *prometheus.CounterVec
	approvals                                                               *prometheus.CounterVec
	exportFailures                                                          prometheus.Counter
}

// The upper bounds of the histogram buckets. The fastest JavaScript tools take a tenth of
// a millisecond, and runs can take minutes.
var (
	runBuckets     = []float64{.0005, .002, .01, .05, .25, 1, 5, 30, 180}
	callBuckets    = []float64{.00001, .0001, .001, .01, .1, 1}
	waitBuckets    = []float64{.0001, .001, .01, .1, 1, 10}
	attemptBuckets = []float64{1, 2, 3, 5, 10, 30}
	httpBuckets    = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 300}
)

func newMetrics() *metrics {
	return &metrics{
		runsInProgress: gauge("toolrun_runs_in_progress", "Runs in progress.", "app"),
		runs:           counter("toolrun_runs_total", "Runs. The code is the fault code, or ok.", "app", "tool", "code"),
		repeated:       counter("toolrun_runs_repeated_total", "Runs that returned the result of an earlier run with the same idempotency key.", "app", "tool"),
		runSeconds:     histogram("toolrun_run_seconds", "Duration of runs, including all attempts and queue time.", runBuckets, "app", "tool"),
		runAttempts:    histogram("toolrun_run_attempts", "Attempts per run.", attemptBuckets, "app", "tool"),
		agentTurns:     counter("toolrun_turns_total", "Turns of agents. The code is the fault code, or ok.", "app", "agent", "code"),
		turnSeconds:    histogram("toolrun_turn_seconds", "Duration of turns, including all attempts, tools and queue time.", runBuckets, "app", "agent"),
		sleepRuns:      counter("toolrun_sleep_runs_total", "Runs of sleep-time memory, by the code of the fault or ok.", "app", "code"),
		sleepSeconds:   histogram("toolrun_sleep_run_seconds", "Duration of runs of sleep-time memory, including all attempts, tools, models and queue time.", runBuckets, "app"),
		unrecorded:     counter("toolrun_sleep_unrecorded_messages_total", "Messages of turns that sleep-time memory does not receive, because they exceed a quota.", "app"),
		waitSeconds:    histogram("toolrun_run_wait_seconds", "Queue time of attempts, and of runs that were not executed.", waitBuckets, "app"),
		conflicts:      counter("toolrun_run_conflicts_total", "Attempts that were repeated because other runs changed what they had read.", "app", "tool"),
		cpuSeconds:     counter("toolrun_run_cpu_seconds_total", "CPU time of tools.", "app", "tool"),
		calls:          counter("toolrun_memory_calls_total", "Memory calls by tools. The code is the fault code, ok, or ended if the call ended the attempt.", "app", "op", "code"),
		callSeconds:    histogram("toolrun_memory_call_seconds", "Duration of memory calls by tools.", callBuckets, "app", "op"),
		logs:           counter("toolrun_log_lines_total", "Lines that tools logged.", "app", "tool", "level"),
		effects:        counter("toolrun_effects_total", "Records that runs read, set and deleted.", "app", "tool", "effect"),
		sessions:       counter("toolrun_sessions_total", "Sessions that were started or ended explicitly, not by a run.", "app", "event"),
		workflows:      counter("toolrun_workflows_total", "Workflows that were ended explicitly.", "app", "event"),
		approvals:      counter("toolrun_approvals_total", "Requests for approval that were made, approved or denied. A service does not count expired requests, but the ledger lists them.", "app", "event"),
		modelCalls:     counter("toolrun_model_calls_total", "Requests to models by tools and agents.", "app"),
		modelTokens:    counter("toolrun_model_tokens_total", "Tokens of requests to models, by direction.", "app", "direction"),
		httpInFlight:   gauge("toolrun_http_requests_in_flight", "Requests in progress."),
		httpRequests:   counter("toolrun_http_requests_total", "Requests, by status class.", "route", "method", "class"),
		httpSeconds:    histogram("toolrun_http_request_seconds", "Duration of requests.", httpBuckets, "route", "method"),
		exportFailures: prometheus.NewCounter(prometheus.CounterOpts{Name: "toolrun_trace_export_failures_total", Help: "Batches of spans that could not be exported."}),
	}
}

// register registers the metrics.
func (t *Telemetry) register(version string) error {
	m := t.metrics
	for _, c := range []prometheus.Collector{
		m.runsInProgress, m.runs, m.repeated, m.runSeconds, m.runAttempts, m.agentTurns, m.turnSeconds, m.sleepRuns, m.sleepSeconds, m.unrecorded, m.waitSeconds, m.conflicts, m.cpuSeconds, m.calls, m.callSeconds,
		m.logs, m.effects, m.sessions, m.workflows, m.approvals, m.modelCalls, m.modelTokens, m.httpInFlight, m.httpRequests, m.httpSeconds, m.exportFailures, buildInfo(version),
		t.tenants.runs, t.tenants.cpu, t.tenants.wait, t.tenants.inProgress, t.tenants.limited,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := t.registry.Register(c); err != nil {
			return fmt.Errorf("telemetry: register a metric: %w", err)
		}
	}
	return nil
}

// buildInfo returns a metric with build information in its labels. The value of the metric is
// always 1.
func buildInfo(version string) prometheus.Collector {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if version == "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "toolrun_build_info", Help: "Always 1; the labels describe the build.",
		ConstLabels: prometheus.Labels{
			"version": version, "revision": revision, "goversion": runtime.Version(), "abi": strconv.Itoa(abi.Version),
		},
	})
	g.Set(1)
	return g
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}
