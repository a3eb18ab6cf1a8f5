package telemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/server/telemetry"
)

// The function traced returns a Telemetry with an exporter that keeps spans.
func traced(t testing.TB, opts telemetry.Options) (*telemetry.Telemetry, *tracetest.InMemoryExporter) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	tel, err := telemetry.NewExporting(opts, exporter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(context.WithoutCancel(t.Context())) })
	return tel, exporter
}

// tree returns spans as an indented tree, ordered by start time. tree fails the test if a span
// begins before its parent, or if it ends after its parent.
func tree(t *testing.T, tel *telemetry.Telemetry, exporter *tracetest.InMemoryExporter) string {
	t.Helper()
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := exporter.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	byID := map[trace.SpanID]tracetest.SpanStub{}
	for _, s := range spans {
		byID[s.SpanContext.SpanID()] = s
	}
	var text strings.Builder
	var write func(parent trace.SpanID, indent string)
	write = func(parent trace.SpanID, indent string) {
		for _, s := range spans {
			p, known := byID[s.Parent.SpanID()]
			if s.Parent.SpanID() != parent && (known || parent.IsValid()) {
				continue
			}
			fmt.Fprintf(&text, "%s%s", indent, s.Name)
			for _, a := range s.Attributes {
				if key := strings.TrimPrefix(string(a.Key), "toolrun."); key == "store" || key == "attempt" || key == "writes" {
					fmt.Fprintf(&text, " %s=%s", key, a.Value.String())
				}
			}
			if s.Status.Code == codes.Error {
				text.WriteString(" !" + s.Status.Description)
			}
			text.WriteString("\n")
			if s.EndTime.Before(s.StartTime) || known && (s.StartTime.Before(p.StartTime) || s.EndTime.After(p.EndTime)) {
				t.Errorf("%s from %v to %v; its parent is from %v to %v", s.Name, s.StartTime, s.EndTime, p.StartTime, p.EndTime)
			}
			write(s.SpanContext.SpanID(), indent+"  ")
		}
	}
	write(trace.SpanID{}, "")
	return text.String()
}

func TestTraces(t *testing.T) {
	tel, exporter := traced(t, telemetry.Options{})
	var act guest
	h := open(t, func(ctx context.Context, g engine.Host) (engine.Output, error) { return act(ctx, g) }, tel.Observer("shop"))
	executed := 0
	for _, tt := range []struct {
		name, tool string
		guest      guest
		want       string
	}{
		{"ok", "visit", count, `
run visit
  attempt attempt=1
    worker
      memory.get_content store=visits
      memory.set_content store=visits
  commit writes=1
`},
		{"a call refused, and an error", "visit", func(ctx context.Context, g engine.Host) (engine.Output, error) {
			_, _ = g.Call(ctx, get("ann's secret"))
			return engine.Output{}, abi.Faultf(abi.ToolError, "ann's secret")
		}, `
run visit !tool_error
  attempt attempt=1
    worker
      memory.get_content !not_found
`},
		{"no calls", "visit", func(context.Context, engine.Host) (engine.Output, error) {
			return engine.Output{}, abi.Faultf(abi.ToolError, "no")
		}, `
run visit !tool_error
  attempt attempt=1
    worker
`},
		{"a conflict", "visit", func(ctx context.Context, g engine.Host) (engine.Output, error) {
			if executed++; executed > 1 {
				return count(ctx, g)
			}
			_, _ = g.Call(ctx, get("visits"))
			_, _, err := h.Stores().Do(ctx, host.Caller{}, memory.Operator(), set("visits", fmt.Sprintf(`{"count": %d}`, 7)))
			if err != nil {
				return engine.Output{}, err
			}
			_, err = g.Call(ctx, set("visits", `{"count": 8}`))
			return engine.Output{}, err
		}, `
run visit
  attempt attempt=1
    worker
      memory.get_content store=visits
      memory.set_content store=visits
  attempt attempt=2
    worker
      memory.get_content store=visits
      memory.set_content store=visits
  commit writes=1
`},
		{"no such tool", "ann's tool", nil, `
run !not_found
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exporter.Reset()
			act = tt.guest
			_, _ = h.Run(t.Context(), host.Invocation{Tool: tt.tool, Caller: host.Caller{User: "ann"}, Input: json.RawMessage(`{"page":"ann"}`)})
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), tree(t, tel, exporter)); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
			if text, _ := json.Marshal(exporter.GetSpans()); strings.Contains(string(text), "ann") {
				t.Errorf("the spans contain the user: %s", text)
			}
		})
	}
}

// The span of the first attempt begins when the run begins, not when the tool makes its first
// memory call. Therefore, the span includes the work of the tool before its first memory call.
func TestFirstAttemptBeginsWithTheRun(t *testing.T) {
	tel, exporter := traced(t, telemetry.Options{})
	var called time.Time
	h := open(t, func(ctx context.Context, g engine.Host) (engine.Output, error) {
		called = time.Now()
		return count(ctx, g)
	}, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit"}); err != nil {
		t.Fatal(err)
	}
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range exporter.GetSpans() {
		if s.Name == "attempt" && s.StartTime.After(called) {
			t.Errorf("the attempt begins at %v, after its guest, at %v", s.StartTime, called)
		}
	}
}

// The number of spans in a trace is limited.
func TestTracesAreBounded(t *testing.T) {
	tel, exporter := traced(t, telemetry.Options{})
	h := open(t, func(ctx context.Context, g engine.Host) (engine.Output, error) {
		for range 900 {
			_, _ = g.Call(ctx, get("visits"))
		}
		return engine.Output{}, nil
	}, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit"}); err != nil {
		t.Fatal(err)
	}
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(exporter.GetSpans()); n != 204 { // the spans of the run, the attempt, the worker and the commit
		t.Errorf("spans of a run with 900 calls = %d; want 204", n)
	}
}

// A caller can disable the trace of a request. A caller cannot raise the fraction of exported
// traces above the operator's ratio.
func TestSampling(t *testing.T) {
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, tt := range []struct {
		ratio       float64
		traceparent string
		want        int
	}{
		{0, "", 2}, {0, "00-" + traceID + "-00f067aa0ba902b7-01", 2}, {0, "00-" + traceID + "-00f067aa0ba902b7-00", 0},
		{1e-12, "00-" + traceID + "-00f067aa0ba902b7-01", 0}, {0, "nonsense", 2},
	} {
		tel, exporter := traced(t, telemetry.Options{SampleRatio: tt.ratio})
		h := open(t, func(context.Context, engine.Host) (engine.Output, error) {
			return engine.Output{}, abi.Faultf(abi.ToolError, "no")
		}, tel.Observer("shop"))
		handler := tel.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = h.Run(r.Context(), host.Invocation{Tool: "no such tool"})
		}), nil)
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("traceparent", tt.traceparent)
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if err := tel.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		spans := exporter.GetSpans()
		if len(spans) != tt.want {
			t.Errorf("ratio %v, traceparent %q: %d spans; want %d", tt.ratio, tt.traceparent, len(spans), tt.want)
		}
		for _, s := range spans {
			if strings.Contains(tt.traceparent, traceID) && s.SpanContext.TraceID().String() != traceID {
				t.Errorf("the span %s is in the trace %s; want the caller's", s.Name, s.SpanContext.TraceID())
			}
		}
	}
}

// A collector receives OTLP over HTTP.
func TestCollector(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request := &collector.ExportTraceServiceRequest{}
		if err := proto.Unmarshal(body, request); err != nil || r.URL.Path != "/base/v1/traces" || r.Header.Get("Api-Key") != "k" {
			t.Errorf("an export to %s with the key %q: %v", r.URL.Path, r.Header.Get("Api-Key"), err)
		}
		got <- request
	}))
	defer server.Close()
	tel := newTelemetry(t, telemetry.Options{OTLPEndpoint: server.URL + "/base/", OTLPHeaders: map[string]string{"Api-Key": "k"}, ServiceName: "here"})
	h := open(t, count, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := tel.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	request := <-got
	spans := request.ResourceSpans[0].ScopeSpans[0].Spans
	names := []string{}
	for _, s := range spans {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"attempt", "commit", "memory.get_content", "memory.set_content", "run visit", "worker"}, names); diff != "" {
		t.Errorf("exported spans (-want +got):\n%s", diff)
	}
	if a := request.ResourceSpans[0].Resource.Attributes; len(a) != 1 || a[0].Value.GetStringValue() != "here" {
		t.Errorf("the resource is %v; want service.name here", a)
	}
}

// An unreachable collector does not affect runs, and failed exports are counted.
func TestCollectorDown(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var text strings.Builder
	tel := newTelemetry(t, telemetry.Options{OTLPEndpoint: server.URL, Logger: logger(&text)})
	h := open(t, count, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit"}); err != nil {
		t.Fatal(err)
	}
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "cannot export spans") {
		t.Errorf("the log is %s; want a line about the export", text.String())
	}
	wantMetrics(t, tel, `
# HELP toolrun_trace_export_failures_total Batches of spans that could not be exported.
# TYPE toolrun_trace_export_failures_total counter
toolrun_trace_export_failures_total 1
`, "toolrun_trace_export_failures_total")
}
