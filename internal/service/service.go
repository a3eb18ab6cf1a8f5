package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/server/tenants"
)

// Options configures a Service. The options Apps, Authenticate and Telemetry are required.
type Options struct {
	Apps         *tenants.Apps
	Authenticate func(*http.Request) (auth.Principal, error)
	Telemetry    *telemetry.Telemetry
	// Engines, Documents, Links, Rate, Burst and BodyBytes are options of package httpapi.
	Engines   []engine.Info
	Documents *extract.Reader
	Links     *httpapi.Links
	Rate      float64
	Burst     int
	BodyBytes int64
	// UserMetadata is an option of package httpapi.
	UserMetadata []string
	// Recheck and Admitted are options of package httpapi.
	Recheck  time.Duration
	Admitted func(context.Context)
	// Backup is an option of package httpapi.
	Backup func(context.Context) (httpapi.Backup, error)
	// Ready returns an error if the service cannot work. The path /readyz then returns the status
	// 503. The response of /readyz contains the message of the error only if the error is an
	// abi.Fault, because anyone can read the response. Ready is called for each request. By
	// default, the service is always ready.
	Ready   func(context.Context) error
	Version string
	Logger  *slog.Logger
}

// Service handles requests for the HTTP API, MCP, metrics and health checks. Service is safe for
// concurrent use.
type Service struct {
	options  Options
	api      *httpapi.Server
	mcp      *connectors
	handler  http.Handler
	stopping atomic.Bool
}

// New returns a Service.
func New(opts Options) (*Service, error) {
	s := &Service{options: opts}
	api, err := httpapi.New(httpapi.Options{
		Apps: opts.Apps, Authenticate: opts.Authenticate, Engines: opts.Engines, Documents: opts.Documents, Links: opts.Links, UserMetadata: opts.UserMetadata, Recheck: opts.Recheck,
		Rate: opts.Rate, Burst: opts.Burst, BodyBytes: opts.BodyBytes, Backup: opts.Backup, Admitted: opts.Admitted, Limited: opts.Telemetry.Limited,
		Version: opts.Version, Logger: opts.Logger,
	})
	if err != nil {
		return nil, err
	}
	page, err := newPage(api)
	if err != nil {
		return nil, err
	}
	s.api = api
	s.mcp = newConnectors(opts, api)
	api.Handle("/mcp", s.mcp)
	api.Handle("GET /metrics", opts.Telemetry.Handler())
	api.Handle("GET /healthz", http.HandlerFunc(alive))
	api.Handle("GET /readyz", http.HandlerFunc(s.ready))
	api.Handle("GET /docs", page)
	api.Handle("GET /{$}", http.RedirectHandler("docs", http.StatusFound)) // relative, because a proxy may add a path prefix
	s.handler = opts.Telemetry.HTTP(api, api.Pattern)
	return s, nil
}

// ServeHTTP handles a request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// API returns the HTTP API.
func (s *Service) API() *httpapi.Server { return s.api }

// Leave makes /readyz report that the service is stopping. Load balancers then send no more
// requests to this service. Leave has no other effect.
func (s *Service) Leave() { s.stopping.Store(true) }

// Stop is like Leave, but also ends the MCP sessions, whose streams would otherwise never end. Stop
// returns when the running calls of these sessions have ended. When ctx ends, Stop cancels the
// remaining calls.
func (s *Service) Stop(ctx context.Context) {
	s.Leave()
	s.mcp.close(ctx)
}

func alive(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") }

// readyTime is the time limit of the readiness check.
const readyTime = 2 * time.Second

func (s *Service) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if s.stopping.Load() {
		say(w, http.StatusServiceUnavailable, "stopping")
		return
	}
	var err error
	if s.options.Ready != nil {
		err = s.options.Ready(ctx)
	}
	if err == nil {
		say(w, http.StatusOK, "ready")
		return
	}
	text := "the backend does not respond"
	if f, ok := errors.AsType[*abi.Fault](err); ok {
		text = f.Message
	}
	say(w, http.StatusServiceUnavailable, text)
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

var errStopping = abi.Faultf(abi.Unavailable, "the service is stopping").WithHint("try again in a moment")
