package telemetry

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
)

// Options are what a Telemetry is made of. With the zero value there are metrics, and neither traces nor log lines.
type Options struct {
	// Logger gets one line for each run, and says when traces cannot be exported. Default: discard.
	Logger *slog.Logger
	// OTLPEndpoint is the base URL of a collector that takes OTLP over HTTP, such as "http://127.0.0.1:4318"; as with the
	// variable OTEL_EXPORTER_OTLP_ENDPOINT, /v1/traces is added. Default: no traces.
	OTLPEndpoint string
	// OTLPHeaders are sent with each export, such as a key of the collector's.
	OTLPHeaders map[string]string
	// ServiceName is what the traces are named after. Default "toolrun".
	ServiceName string
	// SampleRatio is the part of all traces that is exported, above 0 and up to 1. A caller's traceparent that says
	// "not sampled" is heeded; one that says "sampled" cannot raise the part. Default 1.
	SampleRatio float64
	// Tenants are the tenants that have metrics of their own, and FirstTenants is how many others get some, in the order
	// of their first runs. All others share the label "other". Handler takes no credentials, and its metrics
	// show the ids of these tenants. Default: no metrics by tenant.
	Tenants      []string
	FirstTenants int
	// Version is the program's own, for the build's metric. Default: that of the main module, as the build says.
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

// check finds every mistake.
func (o Options) check() error {
	var errs []error
	if !(o.SampleRatio >= 0 && o.SampleRatio <= 1) { // so that no NaN gets by
		errs = append(errs, fmt.Errorf("telemetry: Options.SampleRatio is %v; it is above 0 and at most 1", o.SampleRatio))
	}
	if o.FirstTenants < 0 {
		errs = append(errs, errors.New("telemetry: Options.FirstTenants is negative"))
	}
	if o.OTLPEndpoint != "" {
		u, err := url.Parse(o.OTLPEndpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			errs = append(errs, errors.New("telemetry: Options.OTLPEndpoint is no base URL such as http://127.0.0.1:4318; what the collector asks for goes to OTLPHeaders"))
		}
	}
	return errors.Join(errs...)
}
