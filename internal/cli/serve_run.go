package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/server/httpapi"
	"github.com/toolrun/toolrun/host/server/telemetry"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/internal/connections"
	"github.com/toolrun/toolrun/internal/service"
)

// server is a running service.
type server struct {
	baseCommand
	flags     *serveFlags
	files     []string
	logger    *slog.Logger
	auth      authenticator
	backend   storage.Backend
	engines   *serveEngines
	gate      *admission.Gate
	telemetry *telemetry.Telemetry
	links     *httpapi.Links
	apps      *tenants.Apps
	models    *model.Set // nil if the service has no models.yaml
	handler   *service.Service
	// certificate is nil if the service does not use TLS.
	certificate *certificate
	// connections limits the number of connections that the listener accepts.
	connections *connections.Table

	reloads    <-chan os.Signal // requests to reload the app files
	reloaded   reloaded
	started    []*project     // the app files that were read at startup
	inspecting sync.WaitGroup // waits until all tools have been inspected
}

// open opens the parts of the service. The port is opened last, so that every accepted connection
// gets a response.
func (s *server) open(ctx context.Context) (net.Listener, error) {
	projects, err := openApps(s.baseCommand.projects, s.files, s.logger)
	if err != nil {
		return nil, err
	}
	s.started = projects
	db := projects[0].database(s.flags.db)
	if err := s.openParts(db); err != nil {
		return nil, err
	}
	listener, err := s.flags.openPort()
	if err != nil {
		return nil, err
	}
	listener = s.connections.Listener(listener)
	if s.links, err = openLinks(s.out, s.flags, db.path, listener.Addr()); err == nil {
		err = s.openHandler()
	}
	if err == nil {
		err = startFault(s.apps.Serve(ctx, appsOf(projects)))
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// startFault returns the fault to report if the apps cannot be opened at startup. If the scope of a
// store changed, the fault contains the tenant.
func startFault(err error) error {
	if _, ok := errors.AsType[*memory.ScopeChangedError](err); ok {
		return abi.Faultf(abi.SourceInvalid, "%v", err)
	}
	return err
}

// openParts opens all parts of the service that the handler needs. closeParts closes the same
// parts.
func (s *server) openParts(db database) (err error) {
	if s.auth, err = s.flags.accessFlags.open(s.env, s.flags.listen, s.logger); err != nil {
		return err
	}
	options, err := s.flags.storage()
	if err != nil {
		return err
	}
	if s.certificate, err = openCertificate(s.env, s.flags, s.logger); err != nil {
		return err
	}
	if s.backend, err = db.openWith(true, options); err != nil {
		return err
	}
	if s.engines, err = openServeEngines(s.out, s.flags, s.logger); err != nil {
		return err
	}
	if s.connections, err = s.flags.table(); err != nil {
		return err
	}
	watch := telemetry.Options{Logger: s.logger, OTLPEndpoint: s.flags.otlp, Version: thisVersion().Version}
	if watch.Tenants, watch.FirstTenants, err = s.flags.tenantsOfMetrics(); err != nil {
		return err
	}
	if s.telemetry, err = telemetry.New(watch); err != nil {
		return usagef("", "%v", err)
	}
	return s.watchConnections()
}

func (s *server) closeParts() error {
	var errs []error
	if s.engines != nil {
		errs = append(errs, s.engines.close())
	}
	if s.backend != nil {
		errs = append(errs, s.backend.Close())
	}
	return errors.Join(errs...)
}

// openHandler creates the apps and the handler that serves the apps.
func (s *server) openHandler() error {
	f := s.flags
	var err error
	if s.gate, err = admission.New(admission.Limits{Running: f.running, PerTenant: f.perTenant, PerApp: f.perApp, PerUser: f.perUser}); err != nil {
		return usagef("", "%v", err)
	}
	quota, err := f.quota()
	if err != nil {
		return err
	}
	if s.models, err = f.modelFlags.open(s.env); err != nil {
		return err
	}
	s.warnOfModels(s.started)
	s.apps = tenants.New(tenants.Options{
		Host: host.Options{
			Models: s.models,
			Memory: quota, Backend: s.backend, Engines: s.engines.tools.engines, Gate: s.gate, Ledger: f.ledger, Metering: f.usage, Now: s.env.Now, Logger: s.logger,
		},
		Observers: func(app string) []host.Observer { return []host.Observer{s.telemetry.Observer(app)} },
		FileURL:   s.links.Make,
		OnRetired: func(h *host.Host) { s.handler.Retire(h) },
		OnIdle:    func(h *host.Host) { s.handler.Rest(h) },
		Open:      f.openHosts, Idle: f.hostIdle, IndexBytes: f.indexBytes(),
	})
	s.handler, err = service.New(service.Options{
		Apps: s.apps, Authenticate: s.auth.Authenticate, Telemetry: s.telemetry, Documents: s.engines.documents, Links: s.links,
		UserMetadata: f.userMetadata, Admitted: connections.Admit, Engines: engine.Infos(s.engines.tools.engines),
		Rate: f.rate, Burst: f.burst, BodyBytes: f.bodyBytes(), Ready: (&readiness{backend: s.backend, now: s.env.Now, logger: s.logger}).check, Version: thisVersion().Version, Logger: s.logger, Backup: backupOf(s.backend, s.logger),
	})
	if err != nil {
		return err
	}
	return s.watchParts(s.models)
}

// run serves requests until ctx ends, and then waits for the requests in progress.
func (s *server) run(ctx context.Context, listener net.Listener) error {
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()
	web := &http.Server{
		Handler: s.handler, BaseContext: func(net.Listener) context.Context { return requests },
		// The following timeouts limit slow clients. Writing a response has no timeout,
		// because runs can take long.
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	if s.certificate != nil {
		web.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.get}
	}
	s.connections.Watch(web)
	failed := make(chan error, 1)
	go func() { failed <- s.accept(web, listener) }()
	s.warnOfPlainText(listener.Addr())
	s.logLimits()
	s.announce(listener.Addr())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.inspecting.Go(func() { s.inspect(ctx) })
	s.inspecting.Go(func() { s.probeIssuer(ctx) })
	for {
		select {
		case err := <-failed:
			cancel()
			return errors.Join(abi.Faultf(abi.Unavailable, "the service stopped: %v", err), s.close())
		case <-s.reloads:
			s.certificate.reload()
			s.reloaded.note(s.env.Now(), s.reload(ctx))
		case <-ctx.Done():
			return s.stop(web, cancelRequests)
		}
	}
}

// logLimits logs the limits of concurrent runs. Because the defaults depend on the number of
// processors, logLimits also logs limits with default values.
func (s *server) logLimits() {
	l := s.gate.Limits()
	s.logger.Info("limits of concurrent runs", "running", l.Running, "per_tenant", l.PerTenant, "per_app", l.PerApp, "per_user", l.PerUser)
}

// warnOfPlainText logs a warning if clients send keys unencrypted. If --base-url is an https URL,
// warnOfPlainText assumes that a proxy terminates TLS.
func (s *server) warnOfPlainText(addr net.Addr) {
	at, ok := addr.(*net.TCPAddr)
	if s.certificate != nil || !ok || at.IP.IsLoopback() || strings.HasPrefix(s.flags.baseURL, "https://") {
		return
	}
	s.logger.Warn("keys and tokens are sent to this service unencrypted", "listen", addr.String(),
		"hint", "add --tls-cert and --tls-key, or put a TLS proxy in front of the service and pass the address of the proxy with --base-url")
}

// warnOfModels logs a warning for each model that an app uses but models.yaml does not declare.
func (s *server) warnOfModels(projects []*project) {
	for _, pr := range projects {
		logProblems(s.logger, pr.app.ID, pr.unknownModels(s.models))
	}
}

func (s *server) accept(web *http.Server, listener net.Listener) error {
	if s.flags.tlsCert != "" {
		return web.ServeTLS(listener, "", "") // TLSConfig contains the certificate
	}
	return web.Serve(listener)
}

// stop waits for the requests in progress and stops the service. At first, the method keeps the
// port open for a while. While the port stays open, a load balancer can see that the service is not
// ready, and requests are still served.
func (s *server) stop(web *http.Server, cancel context.CancelFunc) error {
	s.logger.Info("stopping", "linger", s.flags.linger.String(), "drain", s.flags.drain.String())
	s.handler.Leave()
	time.Sleep(s.flags.linger)
	drain, done := context.WithTimeout(context.Background(), s.flags.drain)
	defer done()
	go s.handler.Stop(drain) // Shutdown waits for the requests in progress
	err := web.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) { // canceled runs still send a response
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
	s.inspecting.Wait()
	err := s.apps.Close()
	if failed := s.telemetry.Shutdown(flush); failed != nil {
		s.logger.Warn("cannot export the last traces", "error", failed)
	}
	s.logger.Info("stopped")
	return err
}

// inspect compiles the tools at startup. If a tool does not compile, the method logs the error. A
// tool that does not compile prevents a reload, and the previous version of the app stays in use.
// At the start, no previous version exists, so the service starts nevertheless.
func (s *server) inspect(ctx context.Context) {
	for _, pr := range s.started {
		broken, err := s.check(ctx, pr)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.logger.Error("cannot open app", "app", pr.app.ID, "error", err)
			continue
		}
		readAll := true
		s.logBroken(pr, broken)
		for _, err := range broken {
			readAll = readAll && !errors.Is(err, abi.Unavailable) && !errors.Is(err, abi.Timeout) && !errors.Is(err, abi.Internal)
		}
		if readAll {
			pr.seal()
		}
		s.logger.Info("the tools were compiled", "app", pr.app.ID, "tools", len(pr.app.Tools)-len(broken), "broken", len(broken))
	}
}

// reload reads the app files again. If an app file has mistakes, reload logs the error and changes
// nothing.
func (s *server) reload(ctx context.Context) error {
	projects, err := openApps(s.baseCommand.projects, s.files, s.logger)
	if bad, ok := errors.AsType[*appError](err); ok {
		logProblems(s.logger, "", bad.problems)
	}
	s.warnOfModels(projects)
	for _, pr := range projects {
		err = errors.Join(err, s.flawless(ctx, pr))
		pr.seal()
	}
	if err == nil {
		err = s.apps.Serve(ctx, appsOf(projects))
	}
	if err != nil {
		s.logger.Error("the app files were not reloaded", "error", err)
		return err
	}
	s.logger.Info("the app files were reloaded", "apps", s.apps.Names())
	return nil
}

// flawless returns an error if an app has mistakes or a tool of the app does not compile. Such an
// app must not replace the current app.
func (s *server) flawless(ctx context.Context, pr *project) error {
	if err := pr.problems.Err(); err != nil {
		return fmt.Errorf("the file %s of the app %s has errors", pr.file, pr.app.ID) // the mistakes were already logged
	}
	broken, err := s.check(ctx, pr)
	if err != nil {
		return fmt.Errorf("the app %s: %w", pr.app.ID, err)
	}
	if len(broken) == 0 {
		return nil
	}
	s.logBroken(pr, broken)
	return fmt.Errorf("the app %s has tools that do not compile: %s", pr.app.ID, strings.Join(slices.Sorted(maps.Keys(broken)), ", "))
}

// logBroken logs why tools do not compile. The log contains the positions of the errors in the
// code.
func (s *server) logBroken(pr *project, broken map[string]error) {
	for _, name := range slices.Sorted(maps.Keys(broken)) {
		tool, _ := pr.app.Tool(name)
		logProblem(s.logger, "a tool does not compile", pr.app.ID, pr.toolProblem(tool, faultOf(broken[name])))
	}
}

// check compiles the tools of an app and thereby reads all files of the tools. The result contains
// the errors of the tools that do not compile.
func (s *server) check(ctx context.Context, pr *project) (broken map[string]error, err error) {
	h, err := host.Open(ctx, host.Options{
		App: pr.app, Backend: mem.New(), Engines: s.engines.tools.engines, Gate: s.gate, SweepEvery: -1, Logger: s.logger,
	})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Check(ctx), nil
}

// announce prints the address at which the service listens.
func (s *server) announce(addr net.Addr) {
	scheme := "http"
	if s.flags.tlsCert != "" {
		scheme = "https"
	}
	url := fmt.Sprintf("%s://%s", scheme, addr)
	_ = s.out.answer(struct {
		URL  string   `json:"url"`
		Apps []string `json:"apps"`
		Key  string   `json:"key,omitempty"`
	}{url, s.apps.Names(), s.flags.devKey}, func() error {
		if s.flags.devKey != "" {
			_ = s.out.say("key: %s", s.flags.devKey)
		}
		return s.out.say("serving %v at %s, documentation at %s/docs", s.apps.Names(), url, url)
	})
}
