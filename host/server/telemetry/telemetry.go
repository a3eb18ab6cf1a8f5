package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/toolrun/toolrun/host"
)

// Telemetry counts, traces and logs the activity of all hosts in a process. Telemetry is safe for
// concurrent use.
type Telemetry struct {
	log      *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics
	tenants  *tenants
	tracer   trace.Tracer
	traces   *sdktrace.TracerProvider // nil if traces are disabled
}

// New returns a Telemetry with its own registry, which includes metrics of the process and of the
// Go runtime. New opens no connections. The error reports all invalid options.
func New(opts Options) (*Telemetry, error) { return newTelemetry(opts, nil) }

// newTelemetry is like New, but uses the given exporter instead of the exporter that Options
// describe.
func newTelemetry(opts Options, exporter sdktrace.SpanExporter) (*Telemetry, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	t := &Telemetry{log: opts.Logger, registry: prometheus.NewRegistry(), metrics: newMetrics(), tenants: newTenants(opts), tracer: noop.NewTracerProvider().Tracer(scope)}
	if err := t.register(opts.Version); err != nil {
		return nil, err
	}
	if exporter == nil && opts.OTLPEndpoint != "" {
		var err error
		if exporter, err = collector(opts); err != nil {
			return nil, err
		}
	}
	if exporter != nil {
		t.traces = provider(opts, reportingExporter{exporter, opts.Logger, t.metrics.exportFailures})
		t.tracer = t.traces.Tracer(scope)
	}
	return t, nil
}

// Observer returns an observer that reports the runs of an app to the Telemetry. Add the observer
// to host.Options.Observers of one Host. The observer must be the first observer of the Host: if an
// earlier observer rejects a run, the run is counted but never shown as in progress.
func (t *Telemetry) Observer(app string) host.Observer { return &observer{t: t, app: app} }

// Handler serves the metrics in the Prometheus formats. The metrics reveal the names of apps and
// tools, and also how often apps and tools are used. Therefore, only operators should have access
// to the metrics.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		Registry: t.registry,
		ErrorLog: slog.NewLogLogger(t.log.Handler(), slog.LevelError),
	})
}

// Gauge adds a metric whose value is read at each scrape, such as the number of workers. Gauge
// fails if the name is already used or contains characters other than letters, digits and
// underscores. The function "read" must be safe for concurrent use.
func (t *Telemetry) Gauge(name, help string, read func() float64) error {
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	if err := t.registry.Register(gauge); err != nil {
		return fmt.Errorf("telemetry: add the gauge %q: %w", name, err)
	}
	return nil
}

// Counter is like Gauge, but adds a metric whose value never decreases, such as a number of searches.
func (t *Telemetry) Counter(name, help string, read func() float64) error {
	counter := prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read)
	if err := t.registry.Register(counter); err != nil {
		return fmt.Errorf("telemetry: add the counter %q: %w", name, err)
	}
	return nil
}

// Shutdown exports the remaining traces and stops exporting. Shutdown stops waiting when ctx ends.
// After a call of Shutdown, metrics and log lines continue to work. Shutdown may be called more
// than once.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if t.traces == nil {
		return nil
	}
	if err := t.traces.Shutdown(ctx); err != nil {
		return fmt.Errorf("telemetry: export the last traces: %w", err)
	}
	return nil
}
