package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/apps"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/telemetry"
	"github.com/toolrun/toolrun/internal/service"
)

type serveFlags struct {
	wallFlags
	accessFlags
	listen, db, baseURL, linkKey string
	tlsCert, tlsKey              string
	otlp                         string
	rate                         float64
	burst                        int
	ledger, drain                time.Duration
	running, perApp, perUser     int
}

func (f *serveFlags) register(cmd *cobra.Command) {
	f.wallFlags.register(cmd)
	f.accessFlags.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "the `address` to listen on; port 0 takes a free one")
	flags.StringVar(&f.db, "db", "", "the database `file` of all apps (default: "+stateFolder+"/"+databaseName+" beside the first app file)")
	flags.StringVar(&f.baseURL, "base-url", "", "the `URL` at which clients reach the service, for links to files (default: where it listens)")
	flags.StringVar(&f.linkKey, "link-key", "", "the `file` with the secret that signs links to files (default: made beside the database)")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "the `file` with the certificate, in PEM; with --tls-key")
	flags.StringVar(&f.tlsKey, "tls-key", "", "the `file` with the key of the certificate, in PEM")
	flags.StringVar(&f.otlp, "otlp", "", "the `URL` of a collector for traces (OTLP over HTTP), such as http://127.0.0.1:4318")
	flags.Float64Var(&f.rate, "rate", 100, "how many requests a second each caller may send; 0 for as many as they like")
	flags.IntVar(&f.burst, "burst", 200, "how many requests a caller may send at once")
	flags.DurationVar(&f.ledger, "ledger", 30*24*time.Hour, "how long the ledger keeps what runs read and wrote; 0 for no ledger")
	flags.DurationVar(&f.drain, "drain", 30*time.Second, "how long runs under way may take when the service stops; then they are cancelled, and store nothing")
	flags.IntVar(&f.running, "running", 0, "how many runs at a time (default: 2 for each processor)")
	flags.IntVar(&f.perApp, "per-app", 0, "how many runs at a time of one app and tenant (default: three quarters of --running)")
	flags.IntVar(&f.perUser, "per-user", 0, "how many runs at a time of one user (default: half of --per-app)")
	for _, name := range []string{"tls-cert", "tls-key", "link-key"} {
		_ = cmd.MarkFlagFilename(name) // fails only for a flag that does not exist
	}
	_ = cmd.MarkFlagFilename("db", "db")
}

func (p *program) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [APP...]",
		Short: "Serve apps over HTTP and MCP",
		Long: `Serve apps: an HTTP API under /api/v1, MCP under /mcp, a page that describes the API at /docs, metrics at /metrics,
/healthz and /readyz. APP is an app file or its folder; without one it is the nearest app file.

Every caller has a key (toolrun key create) or a token of the platform's issuer. With --dev there is one key, which is
printed, and nobody but this machine is listened to.

SIGHUP reads the app files again: runs under way end as they began. SIGTERM lets runs under way end, and stops.`,
		Example: `  toolrun serve --dev
  toolrun serve apps/shop apps/support --keys keys.json --db /var/lib/toolrun/memory.db --listen 127.0.0.1:8080
  toolrun serve --keys keys.json --issuer https://id.example --audience toolrun --jwks https://id.example/keys`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.serve(cmd.Context(), &f, args) },
	}
	f.register(cmd)
	return cmd
}

func (p *program) serve(ctx context.Context, f *serveFlags, files []string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if f.dev {
		f.devKey = "dev_" + rand.Text()
	}
	logger := slog.New(slog.NewJSONHandler(p.env.Stderr, nil))
	projects, err := p.openApps(files, logger)
	if err != nil {
		return err
	}
	auth, err := p.openAccess(f.accessFlags, f.listen, logger)
	if err != nil {
		return err
	}
	backend, err := p.open(p.serveDatabase(f, projects[0]), true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	behind, err := p.openServeWall(f, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, behind.close()) }()
	watch, err := telemetry.New(telemetry.Options{Logger: logger, OTLPEndpoint: f.otlp, Version: thisVersion().Version})
	if err != nil {
		return usagef("", "%v", err)
	}
	listener, err := p.listen(f)
	if err != nil {
		return err
	}
	links, err := p.openLinks(f, p.serveDatabase(f, projects[0]).path, listener.Addr())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	gate, err := admission.New(admission.Limits{Running: f.running, PerApp: f.perApp, PerUser: f.perUser})
	if err != nil {
		return usagef("", "%v", err)
	}
	var surface *service.Service
	served := apps.New(apps.Options{
		Host: host.Options{
			Backend: backend, Engines: behind.tools.engines, Gate: gate, Ledger: f.ledger, Now: p.env.Now, Logger: logger,
		},
		Observers: func(app string) []host.Observer { return []host.Observer{watch.Observer(app)} },
		FileURL:   links.Make,
		Retired:   func(h *host.Host) { surface.Retire(h) },
	})
	surface, err = service.New(service.Options{
		Apps: served, Authenticate: auth.Authenticate, Telemetry: watch, Documents: behind.documents, Links: links, Rate: f.rate, Burst: f.burst,
		Ready: func(ctx context.Context) error {
			_, err := backend.Get(ctx, storage.MakeKey(storage.Part{Tag: storage.System, Value: "ready"}))
			return err
		},
		Version: thisVersion().Version, Logger: logger,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s := &server{p: p, flags: f, files: files, apps: served, surface: surface, engines: behind.tools.engines, watch: watch, logger: logger}
	if err := served.Serve(ctx, appsOf(projects)); err != nil {
		return errors.Join(err, listener.Close())
	}
	return s.run(ctx, listener)
}

func (f *serveFlags) check() error {
	switch {
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return usagef("", "--tls-cert and --tls-key go together")
	case f.rate < 0 || f.burst < 0 || f.ledger < 0 || f.drain < 0:
		return usagef("", "--rate, --burst, --ledger and --drain are not negative")
	}
	return f.accessFlags.check()
}

// openApps reads the app files, all mistakes of all of them at once.
func (p *program) openApps(files []string, logger *slog.Logger) ([]*project, error) {
	if len(files) == 0 {
		files = []string{""}
	}
	var projects []*project
	seen := map[string]string{}
	for _, file := range files {
		pr, err := p.openApp(file)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[pr.app.ID]; ok {
			return nil, usagef("an app's id is its file's app:", "%s and %s both declare the app %q", other, pr.file, pr.app.ID)
		}
		seen[pr.app.ID] = pr.file
		logProblems(logger, pr.problems)
		projects = append(projects, pr)
	}
	return projects, nil
}

// logProblems writes what is wrong with an app file, each with its place.
func logProblems(logger *slog.Logger, problems app.Problems) {
	for _, problem := range problems {
		level := slog.LevelWarn
		if problem.Severity == app.SeverityError {
			level = slog.LevelError
		}
		logger.Log(context.Background(), level, "a mistake in an app file",
			"file", problem.File, "line", problem.Line, "column", problem.Column, "text", problem.Message, "hint", problem.Hint)
	}
}

func appsOf(projects []*project) []*app.App {
	var list []*app.App
	for _, pr := range projects {
		list = append(list, pr.app)
	}
	return list
}

func (p *program) serveDatabase(f *serveFlags, first *project) database {
	if f.db != "" {
		return database{p.env.path(f.db), true}
	}
	return database{filepath.Join(first.dir, stateFolder, databaseName), false}
}

// listen opens the port.
func (p *program) listen(f *serveFlags) (net.Listener, error) {
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		fault := abi.Faultf(abi.Unavailable, "listen on %s: %v", f.listen, cause(err))
		return nil, fault.WithHint("--listen takes another address")
	}
	return listener, nil
}

// server is a service that is being served.
type server struct {
	p       *program
	flags   *serveFlags
	files   []string
	apps    *apps.Apps
	surface *service.Service
	engines []engine.Engine
	watch   *telemetry.Telemetry
	logger  *slog.Logger
}

// run serves until ctx ends, and then until what is under way has ended.
func (s *server) run(ctx context.Context, listener net.Listener) error {
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	web := &http.Server{
		Handler: s.surface, BaseContext: func(net.Listener) context.Context { return requests },
		// A client that sends slowly gets no further than this; answers may take as long as runs do.
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- s.accept(web, listener) }()
	s.announce(listener.Addr())
	reload, stop := s.p.env.Reload()
	defer stop()
	for {
		select {
		case err := <-failed:
			return errors.Join(abi.Faultf(abi.Unavailable, "the service stopped: %v", err), s.close())
		case <-reload:
			s.reload(ctx)
		case <-ctx.Done():
			return s.stop(web, cancelRequests)
		}
	}
}

func (s *server) accept(web *http.Server, listener net.Listener) error {
	if s.flags.tlsCert != "" {
		return web.ServeTLS(listener, s.p.env.path(s.flags.tlsCert), s.p.env.path(s.flags.tlsKey))
	}
	return web.Serve(listener)
}

// stop lets what is under way end, for a while.
func (s *server) stop(web *http.Server, cancel context.CancelFunc) error {
	s.logger.Info("stopping", "drain", s.flags.drain.String())
	drain, done := context.WithTimeout(context.Background(), s.flags.drain)
	defer done()
	go s.surface.Stop(drain) // what it waits for, Shutdown waits for as well
	err := web.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) { // runs are cancelled, and answer so
		cancel()
		last, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		if err = web.Shutdown(last); err != nil {
			err = web.Close()
		}
	}
	return errors.Join(err, s.close())
}

func (s *server) close() error {
	flush, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	err := s.apps.Close()
	if failed := s.watch.Shutdown(flush); failed != nil {
		s.logger.Warn("traces are lost", "error", failed)
	}
	s.logger.Info("stopped")
	return err
}

// reload reads the app files again. One with mistakes leaves everything as it is.
func (s *server) reload(ctx context.Context) {
	projects, err := s.p.openApps(s.files, s.logger)
	if bad, ok := errors.AsType[*appError](err); ok {
		logProblems(s.logger, bad.problems)
	}
	for _, pr := range projects {
		err = errors.Join(err, s.flawless(ctx, pr))
	}
	if err == nil {
		err = s.apps.Serve(ctx, appsOf(projects))
	}
	if err != nil {
		s.logger.Error("the app files were not taken up", "error", err)
		return
	}
	s.logger.Info("the app files were read again", "apps", s.apps.Names())
}

// flawless refuses an app that is worse than the one that is served may be: with mistakes, or tools that do not compile.
func (s *server) flawless(ctx context.Context, pr *project) error {
	if err := pr.problems.Err(); err != nil {
		return fmt.Errorf("%s has mistakes: %w", pr.file, err)
	}
	h, err := host.Open(ctx, host.Options{App: pr.app, Backend: mem.New(), Engines: s.engines, SweepEvery: -1, Logger: s.logger})
	if err != nil {
		return err
	}
	defer h.Close()
	var errs []error
	for _, err := range h.Check(ctx) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// announce says where the service is, for people and for scripts.
func (s *server) announce(addr net.Addr) {
	scheme := "http"
	if s.flags.tlsCert != "" {
		scheme = "https"
	}
	url := fmt.Sprintf("%s://%s", scheme, addr)
	_ = s.p.answer(struct {
		URL  string   `json:"url"`
		Apps []string `json:"apps"`
		Key  string   `json:"key,omitempty"`
	}{url, s.apps.Names(), s.flags.devKey}, func() error {
		if s.flags.devKey != "" {
			_ = s.p.say("key: %s", s.flags.devKey)
		}
		return s.p.say("serving %v at %s, described at %s/docs", s.apps.Names(), url, url)
	})
}
