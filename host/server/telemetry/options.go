package telemetry

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
)

// Options configure a Telemetry. The zero value enables metrics but no traces and no log lines.
type Options struct {
	// Logger receives one line per run and the errors of trace exports. Default: nothing is logged.
	Logger *slog.Logger
	// OTLPEndpoint is the base URL of a collector that accepts OTLP over HTTP, such as
	// "http://127.0.0.1:4318". The path /v1/traces is appended to this URL, as for the environment
	// variable OTEL_EXPORTER_OTLP_ENDPOINT. Default: no traces.
	OTLPEndpoint string
	// OTLPHeaders are HTTP headers that each export sends, such as an API key of the collector.
	OTLPHeaders map[string]string
	// ServiceName is the service name in traces. Default: "toolrun".
	ServiceName string
	// SampleRatio is the fraction of traces that are exported. SampleRatio must be greater than 0
	// and at most 1. If the traceparent header of a request lacks the sampled flag, the trace is
	// not exported. A traceparent header with the sampled flag does not increase the fraction.
	// Default: 1.
	SampleRatio float64
	// Tenants lists the tenants that have separate metrics. FirstTenants is the number of
	// additional tenants that have separate metrics. The first tenants that start a run get these
	// separate metrics. All other tenants share the label "other". Separate metrics expose the ids
	// of tenants to everyone who can call Handler, because Handler requires no credentials.
	// Default: no metrics by tenant.
	Tenants      []string
	FirstTenants int
	// Version is the program version in the build metric. Default: the version of the main module.
	Version string
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ServiceName == "" {
		o.ServiceName = "toolrun"
	}
	if o.SampleRatio == 0 {
		o.SampleRatio = 1
	}
	return o
}

// check returns an error that reports all invalid options.
func (o Options) check() error {
	var errs []error
	if !(o.SampleRatio >= 0 && o.SampleRatio <= 1) { // false for NaN
		errs = append(errs, fmt.Errorf("telemetry: Options.SampleRatio is %v; want a value above 0 and at most 1", o.SampleRatio))
	}
	if o.FirstTenants < 0 {
		errs = append(errs, errors.New("telemetry: Options.FirstTenants is negative"))
	}
	if o.OTLPEndpoint != "" {
		u, err := url.Parse(o.OTLPEndpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			errs = append(errs, errors.New("telemetry: Options.OTLPEndpoint is not a base URL such as http://127.0.0.1:4318; use OTLPHeaders for credentials"))
		}
	}
	return errors.Join(errs...)
}
