package telemetry

import (
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// HTTP returns a handler that counts and traces the requests that the handler "next" serves. The
// context of these requests contains the span of the request. The parent of this span is the span
// in the traceparent header (W3C Trace Context). Runs that use this context create child spans.
//
// The label of a request is the result of the function "route". HTTP calls this function with the
// request after the handler "next" has returned. The label is a route pattern without its method,
// never a path. If the argument "route" is nil, the label is the Pattern of the request, which
// http.ServeMux sets.
func (t *Telemetry) HTTP(next http.Handler, route func(*http.Request) string) http.Handler {
	if route == nil {
		route = func(r *http.Request) string { return r.Pattern }
	}
	inFlight := t.metrics.httpInFlight.WithLabelValues()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inFlight.Inc()
		defer inFlight.Dec()
		began, method := time.Now(), methodOf(r)
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer))
		r = r.WithContext(ctx)
		recorded := &statusWriter{ResponseWriter: w}
		returned := false
		defer func() {
			if !returned && recorded.status == 0 { // next panicked; the server handles the panic
				recorded.status = http.StatusInternalServerError
			}
			label := routeOf(route(r))
			t.metrics.httpRequests.WithLabelValues(label, method, classOf(recorded.status)).Inc()
			t.metrics.httpSeconds.WithLabelValues(label, method).Observe(time.Since(began).Seconds())
			endServerSpan(span, method, label, recorded.status)
		}()
		next.ServeHTTP(recorded, r)
		returned = true
	})
}

// endServerSpan ends the span of a request. The name and the attributes of the span follow the
// OpenTelemetry conventions for HTTP, but omit the path and the query.
func endServerSpan(span trace.Span, method, route string, status int) {
	if status == 0 {
		status = http.StatusOK
	}
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status))
	if status >= 500 {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	span.End()
}

// statusWriter records the status of a response. http.ResponseController uses Unwrap to access
// other methods of the underlying writer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader records the status unless the status is informational.
func (a *statusWriter) WriteHeader(status int) {
	if a.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write records the status 200 if no status was written.
func (a *statusWriter) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (a *statusWriter) Flush() {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	_ = http.NewResponseController(a.ResponseWriter).Flush() // some writers do not support Flush
}

// Unwrap returns the underlying writer for http.ResponseController.
func (a *statusWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
