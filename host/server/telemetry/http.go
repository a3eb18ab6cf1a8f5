package telemetry

import (
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// HTTP returns a handler that counts and traces the requests that next serves. The context that
// next gets has the span of the request, which is a child of the span in the traceparent header
// (W3C Trace Context). The span of a run with that context is a child of it in turn.
//
// The label of a request is the result of route, called after next has returned, with the request
// that next got: a pattern, never a path. A leading method is removed. A nil route uses the Pattern
// of the request, which http.ServeMux sets.
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
			if !returned && recorded.status == 0 { // next panics; the server handles that
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

// endServerSpan ends a request's span, with a name and attributes by OpenTelemetry's conventions
// for HTTP. It omits path and query.
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

// statusWriter records the status of a response. http.ResponseController uses Unwrap to find the
// other features of the writer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader records the status, unless it is informational.
func (a *statusWriter) WriteHeader(status int) {
	if a.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write records the status 200 if none was set.
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
	_ = http.NewResponseController(a.ResponseWriter).Flush() // not every writer supports it
}

// Unwrap implements the interface that http.ResponseController uses.
func (a *statusWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
