package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/cachefs"
)

type serveFlags struct {
	isolationFlags
	modelFlags
	accessFlags
	listen, db, baseURL, linkKey string
	tlsCert, tlsKey              string
	otlp                         string
	userMetadata                 []string
	rate                         float64
	burst                        int
	minFree                      string
	appBytes, userBytes          string
	ledger, drain, linger        time.Duration
	usage                        time.Duration
	running, perApp, perUser     int
	perTenant                    int
	bodyMemory, indexMemory      string
	openHosts                    int
	hostIdle                     time.Duration
	connections                  int
	metricsTenants               string
}

func (f *serveFlags) register(cmd *cobra.Command) {
	f.isolationFlags.register(cmd)
	f.modelFlags.registerFile(cmd)
	f.accessFlags.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "the `address` to listen on; port 0 selects a free port")
	flags.StringVar(&f.db, "db", "", "the database `file` of all apps (default: "+stateFolder+"/"+databaseName+" next to the first app file)")
	flags.StringVar(&f.baseURL, "base-url", "", "the `URL` at which clients reach the service, for links to files (default: the listening address)")
	flags.StringVar(&f.linkKey, "link-key", "", "the `file` with the signing secret for links to files (default: created next to the database)")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "the `file` with the TLS certificate in PEM; requires --tls-key")
	flags.StringVar(&f.tlsKey, "tls-key", "", "the `file` with the private key of the certificate in PEM")
	flags.StringVar(&f.otlp, "otlp", "", "the `URL` of a collector for traces (OTLP over HTTP), such as http://127.0.0.1:4318")
	flags.StringVar(&f.metricsTenants, "metrics-tenants", "0", "the tenants with separate metrics: comma-separated `ids`, or a number, which selects the first tenants that run a tool; /metrics shows the ids and requires no key")
	flags.StringSliceVar(&f.userMetadata, "user-metadata", nil, "the `keys` of session metadata that users' tokens may set, such as name,locale (default: none)")
	flags.Float64Var(&f.rate, "rate", 100, "the maximum number of requests per second and caller; 0 for no limit")
	flags.IntVar(&f.burst, "burst", 200, "the maximum burst of requests per caller")
	flags.DurationVar(&f.ledger, "ledger", 30*24*time.Hour, "the time for which the ledger keeps its entries; 0 for no ledger")
	flags.DurationVar(&f.usage, "usage", 400*24*time.Hour, "the time for which the service keeps the daily usage of each app and tenant (runs and CPU time); 0 to record no usage")
	flags.DurationVar(&f.drain, "drain", 30*time.Second, "the time for which a stopping service waits for running tools before it cancels the tools")
	flags.DurationVar(&f.linger, "linger", time.Second, "the time for which a stopping service still responds, with status 503 for /readyz, before it closes its port (with --dev: 0)")
	flags.StringVar(&f.minFree, "min-free", "", "the minimum free disk `size`, such as 1GiB (default: 256MiB, or a quarter of a disk smaller than 1 GiB). With less free space, writes that add data fail. The value off disables the check")
	flags.IntVar(&f.running, "running", 0, "the maximum number of concurrent runs (default: 2 per processor)")
	flags.IntVar(&f.perTenant, "per-tenant", 0, "the maximum number of concurrent runs of a tenant (default: three quarters of --running, or --per-app if --per-app is higher)")
	flags.IntVar(&f.perApp, "per-app", 0, "the maximum number of concurrent runs of an app and tenant (default: three quarters of the default of --per-tenant)")
	flags.IntVar(&f.perUser, "per-user", 0, "the maximum number of concurrent runs of a user (default: half of --per-app)")
	flags.StringVar(&f.appBytes, "app-bytes", "", "the storage quota of an app and tenant for records, files, sessions and stored results (default: 1GiB)")
	flags.StringVar(&f.userBytes, "user-bytes", "", "the storage quota of a user in an app and tenant (default: an eighth of --app-bytes)")
	flags.IntVar(&f.openHosts, "open", 1000, "the maximum number of open apps; an app counts once for each tenant. Beyond this number, the least recently used app is closed")
	flags.DurationVar(&f.hostIdle, "idle", time.Hour, "the time after which an unused app of a tenant is closed; a negative value sets no limit")
	flags.StringVar(&f.bodyMemory, "body-memory", "256MiB", "the maximum memory of concurrent JSON request bodies")
	flags.StringVar(&f.indexMemory, "index-memory", "512MiB", "the maximum memory of the search indexes of collections, approximately. Searches without an index read all entries")
	flags.IntVar(&f.connections, "connections", 0, "the maximum number of connections (default: RLIMIT_NOFILE minus the descriptors for workers, at most 8192). At most half of the connections, and at most 1,024 connections, can be unauthenticated")
	for _, name := range []string{"tls-cert", "tls-key", "link-key"} {
		_ = cmd.MarkFlagFilename(name) // an error is possible only if the flag does not exist
	}
	_ = cmd.MarkFlagFilename("db", "db")
}

// serveCommand implements the command that serves apps over HTTP and MCP.
type serveCommand struct{ baseCommand }

func (sc serveCommand) command() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [APP...]",
		Short: "Serve apps over HTTP and MCP",
		Long: `Serve apps. The service offers an HTTP API under /api/v1, MCP under /mcp, documentation of the API at
/docs, metrics at /metrics, and health checks at /healthz and /readyz. APP is an app file or its folder. The default
is app.yaml in this folder or the nearest parent.

Every caller needs a key (toolrun key create) or a token of the platform's issuer. With --dev, the service prints a
full-access key and listens only on localhost.

SIGHUP reloads the app files. Runs in progress still use the old files. On SIGTERM, the service waits for running
tools and then stops.`,
		Example: `  toolrun serve --dev
  toolrun serve apps/shop apps/support --keys keys.json --db /var/lib/toolrun/memory.db --listen 127.0.0.1:8080
  toolrun serve --keys keys.json --issuer https://id.example --audience toolrun --jwks https://id.example/keys`,
		RunE: func(cmd *cobra.Command, args []string) error { return sc.serve(cmd.Context(), &f, args) },
	}
	f.register(cmd)
	return cmd
}

func (sc serveCommand) serve(ctx context.Context, f *serveFlags, files []string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if f.dev {
		f.devKey, f.linger = "dev_"+rand.Text(), 0
	}
	s := &server{baseCommand: sc.baseCommand, flags: f, files: files, logger: slog.New(slog.NewJSONHandler(sc.env.Stderr, nil))}
	// From here on, SIGHUP does not end the process. A signal during the start waits for run.
	reload, stop := sc.env.Reload()
	defer stop()
	s.reloads = reload
	defer func() { err = errors.Join(err, s.closeParts()) }()
	listener, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.run(ctx, listener)
}

func (f *serveFlags) check() error {
	switch {
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return usagef("", "--tls-cert and --tls-key require each other")
	case f.rate < 0 || f.burst < 0 || f.ledger < 0 || f.usage < 0 || f.drain < 0 || f.linger < 0:
		return usagef("", "--rate, --burst, --ledger, --usage, --drain and --linger must not be negative")
	}
	if _, err := f.storage(); err != nil {
		return err
	}
	if _, err := f.quota(); err != nil {
		return err
	}
	if _, _, err := f.tenantsOfMetrics(); err != nil {
		return err
	}
	if _, ok := bytesize.Parse(f.bodyMemory); !ok {
		return usagef("use a value such as 256MiB", "--body-memory is not a size: %q", f.bodyMemory)
	}
	if size, ok := bytesize.Parse(f.indexMemory); !ok || size < 1 {
		return usagef("use a value such as 512MiB", "--index-memory is not a size: %q", f.indexMemory)
	}
	return f.accessFlags.check()
}

// storage returns the options for the database.
func (f *serveFlags) storage() (*bolt.Options, error) {
	switch f.minFree {
	case "":
		return &bolt.Options{}, nil
	case "off":
		return &bolt.Options{MinFree: -1}, nil
	}
	size, ok := bytesize.Parse(f.minFree)
	if !ok || size < 1 {
		return nil, usagef("use a number and a unit, such as 1GiB, or off", "--min-free %q is not a size", f.minFree)
	}
	return &bolt.Options{MinFree: size}, nil
}

// quota returns the storage quotas for apps and users.
func (f *serveFlags) quota() (limits memory.Limits, err error) {
	for _, flag := range []struct {
		name, text string
		to         *int64
	}{{"--app-bytes", f.appBytes, &limits.AppBytes}, {"--user-bytes", f.userBytes, &limits.UserBytes}} {
		if flag.text == "" {
			continue
		}
		size, ok := bytesize.Parse(flag.text)
		if !ok || size < 1 {
			return limits, usagef("use a number and a unit, such as 1GiB", "%s %q is not a size", flag.name, flag.text)
		}
		*flag.to = size
	}
	return limits, nil
}

// bodyBytes returns the value of --body-memory in bytes. The method "check" has already validated
// the flag.
func (f *serveFlags) bodyBytes() int64 {
	bytes, _ := bytesize.Parse(f.bodyMemory)
	return bytes
}

// indexBytes returns the value of --index-memory in bytes. The method "check" has already validated
// the flag.
func (f *serveFlags) indexBytes() int64 {
	bytes, _ := bytesize.Parse(f.indexMemory)
	return bytes
}

// openApps reads the app files. If mistakes in an app file make the app unusable, openApps fails.
// All other mistakes in app files are logged and do not cause an error. The files of tools are
// cached, so changes to these files take effect when the app files are reloaded.
func openApps(ps projects, files []string, logger *slog.Logger) ([]*project, error) {
	if len(files) == 0 {
		files = []string{""}
	}
	var projects []*project
	seen := map[string]string{}
	for _, file := range files {
		pr, err := ps.openApp(file)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[pr.app.ID]; ok {
			return nil, usagef("change the app id (app:) in one of the files", "%s and %s both declare the app %q", other, pr.file, pr.app.ID)
		}
		seen[pr.app.ID] = pr.file
		logProblems(logger, pr.app.ID, pr.problems)
		pr.once = cachefs.New(pr.app.Files)
		pr.app.Files = pr.once
		projects = append(projects, pr)
	}
	return projects, nil
}

// logProblems logs the problems in the files of an app, with the locations of the problems. If the
// app id is unknown, the argument "id" is "".
func logProblems(logger *slog.Logger, id string, problems problem.List) {
	for _, mistake := range problems {
		text := "a mistake in an app file"
		if mistake.Severity != problem.Error {
			text = "a warning about an app file"
		}
		logProblem(logger, text, id, mistake)
	}
}

func logProblem(logger *slog.Logger, text, id string, mistake problem.Problem) {
	level := slog.LevelWarn
	if mistake.Severity == problem.Error {
		level = slog.LevelError
	}
	var attrs []slog.Attr
	for _, attr := range [][2]string{{"app", id}, {"tool", mistake.Tool}, {"file", mistake.File}} {
		if attr[1] != "" {
			attrs = append(attrs, slog.String(attr[0], attr[1]))
		}
	}
	if mistake.Line > 0 {
		attrs = append(attrs, slog.Int("line", mistake.Line), slog.Int("column", mistake.Column))
	}
	attrs = append(attrs, slog.String("text", mistake.Message))
	if mistake.Hint != "" {
		attrs = append(attrs, slog.String("hint", mistake.Hint))
	}
	logger.LogAttrs(context.Background(), level, text, attrs...)
}

func appsOf(projects []*project) []*app.App {
	var list []*app.App
	for _, pr := range projects {
		list = append(list, pr.app)
	}
	return list
}

// openPort opens the listener of the service.
func (f *serveFlags) openPort() (net.Listener, error) {
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		fault := abi.Faultf(abi.Unavailable, "cannot listen on %s: %v", f.listen, cause(err))
		return nil, fault.WithHint("choose another address with --listen")
	}
	return listener, nil
}
