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

// Options are what a Service is made of. Apps, Authenticate and Telemetry are required.
type Options struct {
	Apps         *tenants.Apps
	Authenticate func(*http.Request) (auth.Principal, error)
	Telemetry    *telemetry.Telemetry
	// Engines, Documents, Links, Rate, Burst and BodyBytes are httpapi's.
	Engines   []engine.Info
	Documents *extract.Reader
	Links     *httpapi.Links
	Rate      float64
	Burst     int
	BodyBytes int64
	// UserMetadata is httpapi's.
	UserMetadata []string
	// Recheck and Admitted are httpapi's.
	Recheck  time.Duration
	Admitted func(context.Context)
	// Backup is httpapi's.
	Backup func(context.Context) (httpapi.Backup, error)
	// Ready reports whether the service can do its work: /readyz answers 503 with the message of an abi.Fault, which
	// anybody can read, and with no reason for other errors. It is called for each question. Default: always ready.
	Ready   func(context.Context) error
	Version string
	Logger  *slog.Logger
}

// Service answers requests of all surfaces. It is safe for concurrent use.
type Service struct {
	options  Options
	api      *httpapi.Server
	mcp      *connectors
	handler  http.Handler
	stopping atomic.Bool
}

// New makes a Service.
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
	api.Handle("GET /{$}", http.RedirectHandler("docs", http.StatusFound)) // relative: a proxy may serve it below a path
	s.handler = opts.Telemetry.HTTP(api, api.Pattern)
	return s, nil
}

// ServeHTTP answers a request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// API returns the HTTP API.
func (s *Service) API() *httpapi.Server { return s.api }

// Leave makes /readyz answer that the service is stopping, and changes nothing else: load balancers look there, and send
// no more.
func (s *Service) Leave() { s.stopping.Store(true) }

// Stop does what Leave does and ends the sessions of MCP,
// whose streams would never end by themselves. It returns when the calls under way in them are answered; those that are
// not when ctx ends are cancelled.
func (s *Service) Stop(ctx context.Context) {
	s.Leave()
	s.mcp.close(ctx)
}

func alive(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") }

// readyTime is how long the backend may take to answer.
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
	text := "the backend does not answer"
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
