package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// collector returns an exporter that sends spans to the OpenTelemetry collector in the options.
func collector(opts Options) (sdktrace.SpanExporter, error) {
	endpoint, err := url.JoinPath(opts.OTLPEndpoint, "v1", "traces")
	if err != nil {
		return nil, fmt.Errorf("telemetry: Options.OTLPEndpoint: %w", err)
	}
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithHeaders(opts.OTLPHeaders))
	if err != nil {
		return nil, fmt.Errorf("telemetry: export traces: %w", err)
	}
	return exporter, nil
}

// provider returns a provider that exports spans in batches. If the collector is too slow, the
// newest spans are dropped.
func provider(opts Options, exporter sdktrace.SpanExporter) *sdktrace.TracerProvider {
	sampler := sdktrace.TraceIDRatioBased(opts.SampleRatio)
	return sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithSampler(sdktrace.ParentBased(sampler, sdktrace.WithRemoteParentSampled(sampler))),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", opts.ServiceName))),
	)
}

// reportingExporter logs and counts failed exports. Without it, the library would write the errors
// to standard error.
type reportingExporter struct {
	sdktrace.SpanExporter
	log      *slog.Logger
	failures prometheus.Counter
}

// ExportSpans exports spans. ExportSpans logs and counts failures.
func (c reportingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := c.SpanExporter.ExportSpans(ctx, spans); err != nil {
		c.failures.Inc()
		c.log.WarnContext(ctx, "cannot export spans", "spans", len(spans), "error", err)
	}
	return nil
}
