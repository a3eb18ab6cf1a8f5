package telemetry_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/server/telemetry"
)

func logger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestHTTP(t *testing.T) {
	tel, exporter := traced(t, telemetry.Options{})
	h := open(t, count, tel.Observer("shop"))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tools/{tool}", func(w http.ResponseWriter, r *http.Request) {
		if _, err := h.Run(r.Context(), host.Invocation{Tool: r.PathValue("tool")}); err != nil {
			w.WriteHeader(http.StatusEarlyHints)
			http.Error(w, "no", http.StatusNotFound)
		}
	})
	mux.HandleFunc("/panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		if err := http.NewResponseController(w).SetWriteDeadline(nowhere); err != nil {
			t.Errorf("a ResponseController cannot reach the connection: %v", err)
		}
		fmt.Fprint(w, "data")
	})
	mux.HandleFunc("/inside", func(http.ResponseWriter, *http.Request) {
		if n := value(t, tel, "toolrun_http_requests_in_flight"); n != 1 {
			t.Errorf("requests in flight, in one = %v; want 1", n)
		}
	})
	server := httptest.NewServer(tel.HTTP(mux, nil))
	defer server.Close()
	for _, request := range []string{
		"POST /tools/visit", "POST /tools/a", "POST /tools/b", "GET /panic", "GET /stream", "GET /inside", "GET /users/ann", "GET /users/bob", "DELETE /stream", "ANNOY /inside",
	} {
		method, path, _ := strings.Cut(request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	}
	server.Close() // waits until the handlers have returned
	wantMetrics(t, tel, `
# HELP toolrun_http_requests_in_flight Requests in progress.
# TYPE toolrun_http_requests_in_flight gauge
toolrun_http_requests_in_flight 0
# HELP toolrun_http_requests_total Requests, by status class.
# TYPE toolrun_http_requests_total counter
toolrun_http_requests_total{class="2xx",method="GET",route="/inside"} 1
toolrun_http_requests_total{class="2xx",method="GET",route="/stream"} 1
toolrun_http_requests_total{class="2xx",method="POST",route="/tools/{tool}"} 1
toolrun_http_requests_total{class="2xx",method="other",route="/inside"} 1
toolrun_http_requests_total{class="4xx",method="DELETE",route="unmatched"} 1
toolrun_http_requests_total{class="4xx",method="GET",route="unmatched"} 2
toolrun_http_requests_total{class="4xx",method="POST",route="/tools/{tool}"} 2
toolrun_http_requests_total{class="5xx",method="GET",route="/panic"} 1
`, "toolrun_http_requests_total", "toolrun_http_requests_in_flight")
	want := `POST /tools/{tool}
  run visit
    attempt attempt=1
      worker
        memory.get_content store=visits
        memory.set_content store=visits
    commit writes=1
POST /tools/{tool}
  run !not_found
POST /tools/{tool}
  run !not_found
GET /panic !Internal Server Error
GET /stream
GET /inside
GET unmatched
GET unmatched
DELETE unmatched
other /inside
`
	if diff := cmp.Diff(want, tree(t, tel, exporter)); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}
