package telemetry

import (
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// HTTP counts and traces what next answers. The span of a request is in the context that next gets, and below the one
// that the request's traceparent header names (W3C Trace Context); a run with that context is below it in turn.
//
// The label of a request is what route says of it, asked when next has returned, with the very request that next got:
// a pattern, never a path. A method in front is left out. Default, where route is nil: the request's Pattern, which
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
			if !returned && recorded.status == 0 { // it panics, which is the server's to deal with
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

// endServerSpan names a request's span by OpenTelemetry's conventions for HTTP. Neither path nor query are in it.
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

// answer notes the status of what is answered. http.ResponseController finds through it what else the writer can do.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status, unless it is one of those that come before the answer.
func (a *statusWriter) WriteHeader(status int) {
	if a.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write notes that the status is 200 where none was set.
func (a *statusWriter) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(p)
}

// Flush sends what was written, for those who ask for an http.Flusher.
func (a *statusWriter) Flush() {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	_ = http.NewResponseController(a.ResponseWriter).Flush() // one that cannot needs none
}

// Unwrap is for http.ResponseController.
func (a *statusWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
