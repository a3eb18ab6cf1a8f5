package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/sdk/client"
)

// keyVariable is the environment variable that contains the API key, unless a flag selects a file
// with the key.
const keyVariable = "TOOLRUN_KEY"

// serverFlags contains the flags of commands that a server can execute. No environment variable can
// select the server, because a user could forget that the variable is set, and write to the wrong
// database. No flag contains the key, because other users can see the arguments of a process.
type serverFlags struct{ url, keyFile, ca string }

func (f *serverFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "server", "", "execute the command on the toolrun server at this `URL`; --app is then the id of an app of the server")
	cmd.Flags().StringVar(&f.keyFile, "key-file", "", "the `file` with the key for --server (default: the key in $"+keyVariable+")")
	cmd.Flags().StringVar(&f.ca, "ca", "", "the `file` with certificates (PEM) of additional authorities to trust for --server")
	_ = cmd.MarkFlagFilename("key-file") // fails only if the flag is missing
	_ = cmd.MarkFlagFilename("ca", "pem", "crt")
}

// remote reports whether the flags select a server.
func (f *serverFlags) remote() bool { return f.url != "" }

// localFlags lists the flags that cannot be combined with --server. Some of the flags in localFlags
// apply only to this machine. For the other flags in localFlags, the key or the server determines
// the values.
var localFlags = []string{"db", "tenant", "inprocess", "require-isolation", "require-layer", "without", "python-wasm", "trace", "models"}

// check returns an error if the user has combined flags that cannot be combined.
func (f *serverFlags) check(cmd *cobra.Command) error {
	if !f.remote() {
		if f.keyFile != "" {
			return usagef("add --server URL", "--key-file requires --server")
		}
		if f.ca != "" {
			return usagef("add --server URL", "--ca requires --server")
		}
		return nil
	}
	for _, name := range localFlags {
		if cmd.Flags().Changed(name) {
			return usagef("omit one of the conflicting flags", "--%s cannot be combined with --server", name)
		}
	}
	return nil
}

// client returns a client for an app at the server. If the app id is "", the key must belong to
// exactly one app, and the client uses the app of the key.
func (a apps) client(f *serverFlags, app string) (*client.Client, error) {
	key, err := f.key(a.out.env)
	if err != nil {
		return nil, err
	}
	web, err := f.httpClient(a.out.env)
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Options{URL: f.url, Key: key, App: app, HTTPClient: web, UserAgent: "toolrun/" + thisVersion().Version})
	if err != nil {
		lines := strings.ReplaceAll(err.Error(), "client: Options.URL", "--server")
		return nil, usagef("use a value such as --server http://127.0.0.1:8080", "%s", strings.ReplaceAll(lines, "client: Options.Key", "the key"))
	}
	if u, err := url.Parse(f.url); err == nil && u.Scheme == "http" && !thisMachine(u.Hostname()) {
		a.out.warn("the key is sent to %s unencrypted; use https", u.Hostname())
	}
	return c, nil
}

// httpClient returns an HTTP client that also trusts the certificate authorities in the file of
// --ca. If --ca is not set, httpClient returns nil, and the default client is used.
func (f *serverFlags) httpClient(env Env) (*http.Client, error) {
	if f.ca == "" {
		return nil, nil
	}
	text, err := env.readFile("--ca", f.ca)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // some systems have no system certificate pool
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, usagef("use a PEM file, which contains BEGIN CERTIFICATE", "--ca %s contains no PEM certificate", f.ca)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return &http.Client{Transport: transport}, nil
}

func thisMachine(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// key returns the API key for the server.
func (f *serverFlags) key(env Env) (string, error) {
	key := env.Getenv(keyVariable)
	if f.keyFile != "" {
		text, err := env.readFile("--key-file", f.keyFile)
		if err != nil {
			return "", err
		}
		key = string(text)
	}
	if key = strings.TrimSpace(key); key == "" {
		return "", usagef("use --key-file FILE, or set $"+keyVariable+"; --key is the idempotency key of a run", "--server requires a key")
	}
	return key, nil
}

// refuseServer returns a usage error if err reports that the user has set a server flag for a
// command that a server cannot execute. Otherwise, refuseServer returns nil.
func refuseServer(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedName() != "server" && unknown.GetSpecifiedName() != "key-file" {
		return nil
	}
	if parent := cmd.Parent(); parent != nil && parent.Name() == "db" {
		return usagef("create a backup with `toolrun db backup DEST --server URL` and use the backup", "%s works only on this machine and does not support --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
	}
	return usagef("omit the flag", "%s works only on this machine and does not support --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
}

// explainServer converts an error of a server to a fault. The fault has a hint for users of the
// command line.
func explainServer(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	switch {
	case e.Status == 0 && untrusted(err):
		known := e.Fault.WithHint("pass the certificate of the certificate authority with --ca FILE")
		known.Outcome = "" // nothing was sent
		return known
	case e.Status == 0 && expired(err):
		known := e.Fault.WithHint("renew the server's certificate, which has expired or is not yet valid, or correct the clock of this machine")
		known.Outcome = "" // nothing was sent
		return known
	case e.Fault.Outcome != "" && e.Status == 0:
		return e.Fault.WithHint("before a retry, check on the server whether the command had an effect")
	case e.Fault.Code == abi.Unavailable && e.Status == 0:
		return e.Fault.WithHint("check that `toolrun serve` is running at this URL")
	case e.Status == 401:
		return e.Fault.WithHint("check the key in --key-file or $%s", keyVariable)
	case strings.Contains(e.Fault.Hint, "?app="):
		return e.Fault.WithHint("select an app with --app ID")
	}
	return e.Fault
}

// untrusted reports whether a connection failed because no trusted certificate authority has signed
// the server's certificate.
func untrusted(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok || strings.Contains(err.Error(), "certificate signed by unknown authority")
}

// expired reports whether a connection failed because the server's certificate has expired or is
// not yet valid.
func expired(err error) bool {
	bad, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok && bad.Reason == x509.Expired || strings.Contains(err.Error(), "certificate has expired or is not yet valid")
}

// unknownName converts the not_found error for a name that the server does not know to a usage
// error with the given message. If the function "list" returns no names, the argument "none" is the
// hint.
func unknownName(err error, name, message, none string, list func() ([]string, error)) error {
	if !errors.Is(err, abi.NotFound) {
		return err
	}
	known, failed := list()
	if failed != nil || slices.Contains(known, name) {
		return err
	}
	return &usageError{abi.Faultf(abi.NotFound, "%s", message).WithHint("%s", didYouMean(name, known, none))}
}

// namesOf returns a function. The returned function calls the function "list" and returns the names
// of the listed items.
func namesOf[T any](list func(context.Context) ([]T, error), name func(T) string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		things, err := list(ctx)
		names := make([]string, len(things))
		for i, thing := range things {
			names[i] = name(thing)
		}
		return names, err
	}
}
