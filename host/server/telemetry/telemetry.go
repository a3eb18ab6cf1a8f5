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

// Telemetry counts, traces and logs what the hosts of a process do. It is safe for concurrent use.
type Telemetry struct {
	log      *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics
	tenants  *tenants
	tracer   trace.Tracer
	traces   *sdktrace.TracerProvider // nil where none are exported
}

// New makes a Telemetry, with a registry of its own that has the metrics of the process and of Go's runtime too. It
// connects to nothing yet. The error names every option that is none.
func New(opts Options) (*Telemetry, error) { return newTelemetry(opts, nil) }

// newTelemetry is New, with an exporter in place of the one that Options name.
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

// Observer returns what tells t of an app's runs: one of host.Options.Observers, for one Host. Put it first there: a
// run that an observer before it refuses is counted, but does not show as running.
func (t *Telemetry) Observer(app string) host.Observer { return &observer{t: t, app: app} }

// Handler serves the metrics in the formats of Prometheus. They tell which apps and tools there are and how much they
// are used: it is for operators alone.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		Registry: t.registry,
		ErrorLog: slog.NewLogLogger(t.log.Handler(), slog.LevelError),
	})
}

// Gauge adds a metric that is read when it is scraped, such as how many processes run tools. The name has letters,
// digits and underscores and is not taken yet, or it is an error; read must be safe for concurrent use.
func (t *Telemetry) Gauge(name, help string, read func() float64) error {
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	if err := t.registry.Register(gauge); err != nil {
		return fmt.Errorf("telemetry: add the gauge %q: %w", name, err)
	}
	return nil
}

// Shutdown exports the traces that were not yet, at most until ctx ends, and stops exporting. Metrics and log lines go
// on. Calling it twice is fine.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if t.traces == nil {
		return nil
	}
	if err := t.traces.Shutdown(ctx); err != nil {
		return fmt.Errorf("telemetry: export the last traces: %w", err)
	}
	return nil
}
