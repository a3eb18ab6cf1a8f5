package telemetry

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
)

// Options configure a Telemetry. The zero value enables metrics, and neither traces nor log lines.
type Options struct {
	// Logger receives one line per run, and errors of trace exports. Default: discard.
	Logger *slog.Logger
	// OTLPEndpoint is the base URL of a collector for OTLP over HTTP, such as
	// "http://127.0.0.1:4318". /v1/traces is appended, as for the variable
	// OTEL_EXPORTER_OTLP_ENDPOINT. Default: no traces.
	OTLPEndpoint string
	// OTLPHeaders are sent with each export, such as a key of the collector.
	OTLPHeaders map[string]string
	// ServiceName is the service name in traces. Default: "toolrun".
	ServiceName string
	// SampleRatio is the fraction of traces that is exported, above 0 and at most 1. A caller's
	// traceparent that is not sampled is respected; a sampled one cannot raise the fraction.
	// Default: 1.
	SampleRatio float64
	// Tenants lists the tenants that have metrics of their own. FirstTenants is the number of
	// further tenants that get some, in the order of their first runs. All others share the label
	// "other". Handler requires no credentials, and its metrics expose the ids of these tenants.
	// Default: no metrics by tenant.
	Tenants      []string
	FirstTenants int
	// Version is the version of the program in the build metric. Default: that of the main module.
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

// check reports every invalid option.
func (o Options) check() error {
	var errs []error
	if !(o.SampleRatio >= 0 && o.SampleRatio <= 1) { // false for NaN
		errs = append(errs, fmt.Errorf("telemetry: Options.SampleRatio is %v; want above 0 and at most 1", o.SampleRatio))
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
