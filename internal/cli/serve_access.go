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

// accessFlags say whose requests are answered.
type accessFlags struct {
	keys                                           string
	issuer, audience, jwks                         string
	tenantClaim, userClaim, sessionClaim, ofTenant string
	dev                                            bool
	devKey                                         string // made for --dev
}

func (f *accessFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	keysFlag(cmd, &f.keys)
	flags.StringVar(&f.issuer, "issuer", "", "the `iss` of tokens (JWT) that are taken, beside keys")
	flags.StringVar(&f.audience, "audience", "", "the `aud` that such tokens are for")
	flags.StringVar(&f.jwks, "jwks", "", "the `URL` or file with the keys of the issuer (JWK Set)")
	flags.StringVar(&f.tenantClaim, "tenant-claim", "tenant", "the `claim` with the tenant")
	flags.StringVar(&f.userClaim, "user-claim", "sub", "the `claim` with the user")
	flags.StringVar(&f.sessionClaim, "session-claim", "session_id", "the `claim` with the session, which a token may have")
	flags.StringVar(&f.ofTenant, "token-tenant", "", "the `tenant` of tokens that name none (default: such tokens are refused)")
	flags.BoolVar(&f.dev, "dev", false, "take one key, which is printed and may do everything, on this machine alone")
}

func (f *accessFlags) check() error {
	tokens := f.issuer != "" || f.audience != "" || f.jwks != ""
	switch {
	case tokens && (f.issuer == "" || f.audience == "" || f.jwks == ""):
		return usagef("", "--issuer, --audience and --jwks go together")
	case f.dev && (tokens || f.keys != ""):
		return usagef("leave --dev out where others are to use the service", "--dev goes with neither --keys nor --issuer")
	case !f.dev && !tokens && f.keys == "":
		return usagef("toolrun key create --keys FILE makes a key; to try it out on this machine: toolrun serve --dev", "who may use the service? It takes --keys, --issuer or --dev")
	}
	return nil
}

// open makes what finds out who sent a request.
func (f *accessFlags) open(env Env, listen string, logger *slog.Logger) (authenticator, error) {
	if f.dev {
		return f.openDev(listen)
	}
	made := &auth.Authenticator{Now: env.Now}
	if f.keys != "" {
		keys, err := auth.OpenKeys(env.path(f.keys))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("toolrun key create --keys "+f.keys+" makes it, with a key", "there is no key file %s", f.keys)
		}
		if err != nil {
			return nil, usagef("", "%v", err)
		}
		keys.Logger = logger
		made.Keys = keys
	}
	if f.issuer != "" {
		options := auth.TokenOptions{
			Issuer: f.issuer, Audience: f.audience, TenantClaim: f.tenantClaim, UserClaim: f.userClaim, SessionClaim: f.sessionClaim,
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

// probeIssuer logs if the keys of the issuer cannot be had. The service goes on: the issuer may start later.
func (s *server) probeIssuer(ctx context.Context) {
	made, ok := s.auth.(*auth.Authenticator)
	if !ok || made.Tokens == nil {
		return
	}
	if err := made.Tokens.Probe(ctx); err != nil && ctx.Err() == nil {
		s.logger.Warn("the keys of the token issuer cannot be had so far: tokens are refused until they can", "jwks", s.flags.jwks, "error", err)
	}
}

// authenticator finds out who sent a request.
type authenticator interface {
	Authenticate(*http.Request) (auth.Principal, error)
}

// devKey is the one key of --dev.
type devKey string

// Authenticate takes the key, whatever header it comes in.
func (k devKey) Authenticate(r *http.Request) (auth.Principal, error) {
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if given == "" {
		given = r.Header.Get("X-API-Key")
	}
	if given == "" {
		return auth.Principal{}, auth.NoCredentials
	}
	if subtle.ConstantTimeCompare([]byte(given), []byte(k)) != 1 {
		return auth.Principal{}, auth.Invalid
	}
	return auth.Principal{Role: auth.Operator, Tenant: host.DefaultTenant, CanRunCode: true, Name: "dev"}, nil
}

// openDev makes the key of --dev, for nobody but this machine.
func (f *accessFlags) openDev(listen string) (authenticator, error) {
	name, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(name); err != nil || name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usagef("such as --listen 127.0.0.1:8080", "--dev listens on this machine alone, and %s is open to others", listen)
	}
	return devKey(f.devKey), nil
}

// serveEngines are the engines of a service: those for tools, and the reader of documents.
type serveEngines struct {
	tools     *engineSet
	readers   *sandbox.Pool // nil where there are none
	documents *extract.Reader
}

// openServeEngines makes the cells of a service, in which some wait for work.
func openServeEngines(out *console, f *serveFlags, logger *slog.Logger) (*serveEngines, error) {
	e := &serveEngines{}
	var err error
	if f.inProcess {
		logger.Warn("tools run in this process, without the wall", "flag", "--inprocess")
		e.tools, err = f.isolationFlags.open(out, logger)
		return e, err // and the text of no file is read: its parser is to be behind the wall
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

// openLinks makes what signs links to files. Its secret is made at the first start, and kept: links outlive a restart.
func openLinks(out *console, f *serveFlags, database string, addr net.Addr) (*httpapi.Links, error) {
	file := database + ".link-key"
	if f.linkKey != "" {
		file = out.env.path(f.linkKey)
	}
	key, err := readSecret(file)
	if errors.Is(err, errOpenSecret) {
		return nil, abi.Faultf(abi.InvalidArgument, "the secret for links %s: %v", out.env.show(file), err).
			WithHint("chmod 600 %s; where somebody may have read it, remove it: a new one is made, and the links so far end", out.env.show(file))
	}
	if errors.Is(err, fs.ErrNotExist) {
		key = []byte(rand.Text() + rand.Text())
		err = os.WriteFile(file, key, 0o600)
	}
	if err != nil {
		return nil, abi.Faultf(abi.Unavailable, "the secret for links %s: %v", out.env.show(file), cause(err))
	}
	base := f.baseURL
	if ip := addr.(*net.TCPAddr).IP; base == "" && ip.IsUnspecified() {
		out.warn("links to files will begin with http://%s, which no client can open: --base-url says where clients reach the service", addr)
	}
	if base == "" {
		base = "http://" + addr.String()
		if f.tlsCert != "" {
			base = "https://" + addr.String()
		}
	}
	return httpapi.NewLinks(key, base, out.env.Now)
}

var errOpenSecret = errors.New("others can read or change it, and so make links to any file")

// readSecret reads a file that is its owner's alone, or is read by a group.
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
	const others = 0o027 // of a group, only writing: secrets that are mounted are often read by one
	if runtime.GOOS != "windows" && info.Mode().Perm()&others != 0 {
		return nil, errOpenSecret
	}
	return io.ReadAll(file)
}
