package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// NewExporting is like New, but uses an exporter of the test.
func NewExporting(opts Options, e sdktrace.SpanExporter) (*Telemetry, error) {
	return newTelemetry(opts, e)
}

// Registry returns the metrics registry of t.
func (t *Telemetry) Registry() *prometheus.Registry { return t.registry }

// Flush exports the spans that have ended.
func (t *Telemetry) Flush(ctx context.Context) error { return t.traces.ForceFlush(ctx) }
