package telemetry_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// nowhere is the zero time, which stands for no deadline.
var nowhere time.Time

func TestOptions(t *testing.T) {
	for _, opts := range []telemetry.Options{
		{SampleRatio: -1}, {SampleRatio: 1.5}, {OTLPEndpoint: "localhost:4318"}, {OTLPEndpoint: "ftp://host"}, {OTLPEndpoint: "http://"},
		{OTLPEndpoint: "http://key@host"}, {OTLPEndpoint: "http://host?key=1"}, {OTLPEndpoint: "http://host/%zz"},
	} {
		if _, err := telemetry.New(opts); err == nil {
			t.Errorf("New(%+v) has no error", opts)
		}
	}
	_, err := telemetry.New(telemetry.Options{SampleRatio: 2, OTLPEndpoint: "secret"})
	if err == nil || !strings.Contains(err.Error(), "SampleRatio") || !strings.Contains(err.Error(), "OTLPEndpoint") || strings.Contains(err.Error(), "secret") {
		t.Errorf("New with two mistakes = %v; want both, without the endpoint, which may hold a key", err)
	}
}

// The metric names follow the conventions of Prometheus. All metrics are served.
func TestHandler(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{Version: "v1.2.3"})
	h := open(t, count, tel.Observer("shop"))
	if _, err := h.Run(t.Context(), host.Invocation{Tool: "visit"}); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(tel.Registry())
	if err != nil || len(problems) > 0 {
		t.Errorf("GatherAndLint = %v, %v; want nothing", problems, err)
	}
	answer := httptest.NewRecorder()
	tel.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`toolrun_runs_total{app="shop",code="ok",tool="visit"} 1`, "go_goroutines ", "process_start_time_seconds ",
		`toolrun_build_info{abi="1",goversion="go`, `version="v1.2.3"} 1`,
	} {
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("the metrics do not contain %s", want)
		}
	}
}

func TestGauge(t *testing.T) {
	tel := newTelemetry(t, telemetry.Options{})
	if err := tel.Gauge("toolrun_workers", "Worker processes.", func() float64 { return 3 }); err != nil {
		t.Fatal(err)
	}
	if n := value(t, tel, "toolrun_workers"); n != 3 {
		t.Errorf("the gauge is %v; want 3", n)
	}
	for _, name := range []string{"toolrun_workers", "toolrun_runs_total", ""} {
		if err := tel.Gauge(name, "Taken.", func() float64 { return 0 }); err == nil {
			t.Errorf("Gauge(%q) of a taken or invalid name has no error", name)
		}
	}
}

// A process has one Telemetry. Each host gets an observer, and HTTP wraps the server's handler.
// Operators get the metrics at a separate address.
func Example() {
	tel, err := telemetry.New(telemetry.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = tel.Shutdown(context.Background()) }()
	files := fstest.MapFS{"app.yaml": {Data: []byte("app: shop\ntools: {visit: {source: visit.js}}")}, "visit.js": {Data: []byte("return 1")}}
	shop, _ := app.Load(files, "app.yaml")
	h, err := host.Open(context.Background(), host.Options{
		App: shop, Backend: mem.New(), Engines: []engine.Engine{stub{nothing}}, Observers: []host.Observer{tel.Observer(shop.ID)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	public := tel.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = h.Run(r.Context(), host.Invocation{Tool: "visit", Caller: host.Caller{User: "ann"}})
	}), func(*http.Request) string { return "/visit" })
	public.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/visit", nil))

	metrics := httptest.NewRecorder()
	tel.Handler().ServeHTTP(metrics, httptest.NewRequest("GET", "/metrics", nil))
	text, _ := io.ReadAll(metrics.Body)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "toolrun_runs_total") || strings.HasPrefix(line, "toolrun_http_requests_total") {
			fmt.Print(line)
		}
	}
	// Output:
	// toolrun_http_requests_total{class="2xx",method="POST",route="/visit"} 1
	// toolrun_runs_total{app="shop",code="ok",tool="visit"} 1
}

func nothing(context.Context, engine.Host) (engine.Output, error) { return engine.Output{}, nil }
