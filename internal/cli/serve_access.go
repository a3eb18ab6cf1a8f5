package cli

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi"
)

// accessFlags contains the flags that determine who may use the service.
type accessFlags struct {
	keys                                                          string
	issuer, audience, jwks                                        string
	tenantClaim, userClaim, sessionClaim, workflowClaim, ofTenant string
	dev                                                           bool
	devKey                                                        string // generated for --dev
}

func (f *accessFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	keysFlag(cmd, &f.keys)
	flags.StringVar(&f.issuer, "issuer", "", "the `issuer` (claim iss) of the JWTs that the service accepts in addition to keys")
	flags.StringVar(&f.audience, "audience", "", "the `audience` (claim aud) that the tokens of the issuer must have")
	flags.StringVar(&f.jwks, "jwks", "", "the `URL` or file with the keys of the issuer (JWK Set)")
	flags.StringVar(&f.tenantClaim, "tenant-claim", "tenant", "the `claim` that contains the tenant")
	flags.StringVar(&f.userClaim, "user-claim", "sub", "the `claim` that contains the user")
	flags.StringVar(&f.sessionClaim, "session-claim", "session_id", "the optional `claim` that contains the session")
	flags.StringVar(&f.workflowClaim, "workflow-claim", "workflow_id", "the optional `claim` that contains the workflow")
	flags.StringVar(&f.ofTenant, "token-tenant", "", "the `tenant` of tokens that have no tenant claim (default: such tokens are rejected)")
	flags.BoolVar(&f.dev, "dev", false, "development mode: print a full-access key and listen on localhost only")
}

func (f *accessFlags) check() error {
	tokens := f.issuer != "" || f.audience != "" || f.jwks != ""
	switch {
	case tokens && (f.issuer == "" || f.audience == "" || f.jwks == ""):
		return usagef("", "--issuer, --audience and --jwks require each other")
	case f.dev && (tokens || f.keys != ""):
		return usagef("omit --dev to serve other machines", "--dev cannot be combined with --keys or --issuer")
	case !f.dev && !tokens && f.keys == "":
		return usagef("create a key with `toolrun key create --keys FILE`, or try the service locally with `toolrun serve --dev`", "the service requires --keys, --issuer or --dev")
	}
	return nil
}

// open returns the authenticator that the flags describe.
func (f *accessFlags) open(env Env, listen string, logger *slog.Logger) (authenticator, error) {
	if f.dev {
		return f.openDev(listen)
	}
	made := &auth.Authenticator{Now: env.Now}
	if f.keys != "" {
		keys, err := auth.OpenKeys(env.path(f.keys))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("create a key file and a first key with: toolrun key create --keys "+f.keys+" NAME", "the key file %s does not exist", f.keys)
		}
		if err != nil {
			return nil, usagef("", "%v", err)
		}
		keys.Logger = logger
		made.Keys = keys
	}
	if f.issuer != "" {
		options := auth.TokenOptions{
			Issuer: f.issuer, Audience: f.audience, TenantClaim: f.tenantClaim, UserClaim: f.userClaim, SessionClaim: f.sessionClaim, WorkflowClaim: f.workflowClaim,
			Tenant: f.ofTenant, Logger: logger, Now: env.Now,
		}
		if strings.Contains(f.jwks, "://") {
			options.KeysURL = f.jwks
		} else {
			options.KeysFile = env.path(f.jwks)
		}
		tokens, err := auth.NewTokens(options)
		if err != nil {
			return nil, usagef("", "%v", err)
		}
		made.Tokens = tokens
	}
	return made, nil
}

// probeIssuer logs a warning if the keys of the issuer cannot be fetched. An unreachable issuer is
// not an error, because the issuer may start after the service.
func (s *server) probeIssuer(ctx context.Context) {
	made, ok := s.auth.(*auth.Authenticator)
	if !ok || made.Tokens == nil {
		return
	}
	if err := made.Tokens.Probe(ctx); err != nil && ctx.Err() == nil {
		s.logger.Warn("cannot fetch the issuer's signing keys (JWKS): the service rejects tokens until it has these keys", "jwks", s.flags.jwks, "error", err)
	}
}

// authenticator determines the principal of a request.
type authenticator interface {
	Authenticate(*http.Request) (auth.Principal, error)
}

// devKey is the only key of a service with the flag --dev, and authenticates requests that contain
// the key.
type devKey string

// Authenticate accepts the key in the Authorization and X-API-Key headers.
func (k devKey) Authenticate(r *http.Request) (auth.Principal, error) {
	secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if secret == "" {
		secret = r.Header.Get("X-API-Key")
	}
	if secret == "" {
		return auth.Principal{}, auth.NoCredentials
	}
	if subtle.ConstantTimeCompare([]byte(secret), []byte(k)) != 1 {
		return auth.Principal{}, auth.Invalid
	}
	return auth.Principal{Role: auth.Operator, Tenant: host.DefaultTenant, CanRunCode: true, Name: "dev"}, nil
}

// openDev creates the key of a service with the flag --dev. If other machines could connect to the
// service, openDev fails.
func (f *accessFlags) openDev(listen string) (authenticator, error) {
	name, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(name); err != nil || name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usagef("use an address such as --listen 127.0.0.1:8080", "--dev listens only on localhost, but other machines can reach %s", listen)
	}
	return devKey(f.devKey), nil
}

// serveEngines contains the engines and the document reader of a service.
type serveEngines struct {
	tools     *engineSet
	readers   *sandbox.Pool // the pool is nil if the service extracts no text
	documents *extract.Reader
}

// openServeEngines opens the engines and starts some spare worker processes.
func openServeEngines(out *console, f *serveFlags, logger *slog.Logger) (*serveEngines, error) {
	e := &serveEngines{}
	var err error
	if f.inProcess {
		logger.Warn("tools run in this process, without isolation", "flag", "--inprocess")
		e.tools, err = f.isolationFlags.open(out, logger)
		return e, err // without a pool, no text is extracted from documents
	}
	if e.tools, err = f.openPool(out.env, sandbox.Options{Logger: logger}); err != nil {
		return nil, err
	}
	options := sandbox.Options{CacheDir: out.env.cacheFolder("cells"), Without: f.without, Require: f.required(), Logger: logger}
	if e.readers, err = engines.NewDocumentPool(options); err != nil {
		return nil, errors.Join(err, e.tools.close())
	}
	e.documents = &extract.Reader{Engine: e.readers.Engines()[0]}
	return e, nil
}

func (e *serveEngines) close() error {
	var err error
	if e.documents != nil {
		err = errors.Join(e.documents.Close(), e.readers.Close())
	}
	return errors.Join(err, e.tools.close())
}

// openLinks returns a Links, which signs download URLs. When the service starts for the first time,
// openLinks creates and stores the secret for signing. Download URLs therefore remain valid after a
// restart.
func openLinks(out *console, f *serveFlags, database string, addr net.Addr) (*httpapi.Links, error) {
	file := database + ".link-key"
	if f.linkKey != "" {
		file = out.env.path(f.linkKey)
	}
	key, err := readSecret(file)
	if errors.Is(err, errOpenSecret) {
		return nil, abi.Faultf(abi.InvalidArgument, "cannot use the link secret %s: %v", out.env.show(file), err).
			WithHint("run `chmod 600 %s`. If other users may have read the file, delete the file: the service then creates a new secret, and existing links become invalid", out.env.show(file))
	}
	if errors.Is(err, fs.ErrNotExist) {
		key = []byte(rand.Text() + rand.Text())
		err = os.WriteFile(file, key, 0o600)
	}
	if err != nil {
		return nil, abi.Faultf(abi.Unavailable, "cannot use the link secret %s: %v", out.env.show(file), cause(err))
	}
	base := f.baseURL
	if ip := addr.(*net.TCPAddr).IP; base == "" && ip.IsUnspecified() {
		out.warn("links to files start with http://%s, which clients cannot open; set --base-url to the address that clients use", addr)
	}
	if base == "" {
		base = "http://" + addr.String()
		if f.tlsCert != "" {
			base = "https://" + addr.String()
		}
	}
	return httpapi.NewLinks(key, base, out.env.Now)
}

var errOpenSecret = errors.New("other users can read or change the secret, and can forge links")

// readSecret reads a secret from a file. If users other than the owner can write the file, or users
// outside the group can read the file, readSecret fails.
func readSecret(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	const others = 0o027 // mounted secrets are often readable by the group
	if runtime.GOOS != "windows" && info.Mode().Perm()&others != 0 {
		return nil, errOpenSecret
	}
	return io.ReadAll(file)
}
