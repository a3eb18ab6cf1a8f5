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

// keyVariable has the key for a server where no flag names a file with it.
const keyVariable = "TOOLRUN_KEY"

// serverFlags name a server that a command is to be carried out by. The server is a flag alone: a variable that is set
// somewhere must not lead what a command writes elsewhere. The key is no flag: others see the arguments of a process.
type serverFlags struct{ url, keyFile, ca string }

func (f *serverFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "server", "", "do it at the toolrun serve that has this `URL`; --app is then the app's id there")
	cmd.Flags().StringVar(&f.keyFile, "key-file", "", "the `file` with the key for --server (default: the key in $"+keyVariable+")")
	cmd.Flags().StringVar(&f.ca, "ca", "", "the `file` with certificates (PEM) of authorities that may have signed that of --server, besides the system's")
	_ = cmd.MarkFlagFilename("key-file") // fails only for a flag that does not exist
	_ = cmd.MarkFlagFilename("ca", "pem", "crt")
}

// remote reports whether a server is named.
func (f *serverFlags) remote() bool { return f.url != "" }

// localFlags are about this machine, or are decided by the key and the server.
var localFlags = []string{"db", "tenant", "inprocess", "require-isolation", "require-layer", "without", "python-wasm", "trace"}

// check refuses flags that mean nothing together.
func (f *serverFlags) check(cmd *cobra.Command) error {
	if !f.remote() {
		if f.keyFile != "" {
			return usagef("add --server URL", "--key-file is the key for a server, and none is named")
		}
		if f.ca != "" {
			return usagef("add --server URL", "--ca is for the certificate of a server, and none is named")
		}
		return nil
	}
	for _, name := range localFlags {
		if cmd.Flags().Changed(name) {
			return usagef("leave one of them out", "--%s goes not with --server: the server, or the key for it, decides that", name)
		}
	}
	return nil
}

// client makes what reaches the app with an id at the server; "" is the only app that the key is for.
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
		return nil, usagef("such as --server http://127.0.0.1:8080", "%s", strings.ReplaceAll(lines, "client: Options.Key", "the key"))
	}
	if u, err := url.Parse(f.url); err == nil && u.Scheme == "http" && !thisMachine(u.Hostname()) {
		a.out.warn("the key goes to %s unencrypted; https would keep it from others", u.Hostname())
	}
	return c, nil
}

// httpClient makes a client that trusts the authorities of a file too, or returns nil for the default client if there is no file.
func (f *serverFlags) httpClient(env Env) (*http.Client, error) {
	if f.ca == "" {
		return nil, nil
	}
	text, err := env.readFile("--ca", f.ca)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // not every system has one
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, usagef("it is a text with BEGIN CERTIFICATE", "--ca %s holds no certificate in PEM", f.ca)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return &http.Client{Transport: transport}, nil
}

func thisMachine(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// key reads the key.
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
		return "", usagef("name a file with it, --key-file FILE, or set $"+keyVariable+"; --key is something else", "a server takes a key")
	}
	return key, nil
}

// refuseServer words the error about a flag that only other commands have.
func refuseServer(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedName() != "server" && unknown.GetSpecifiedName() != "key-file" {
		return nil
	}
	if parent := cmd.Parent(); parent != nil && parent.Name() == "db" {
		return usagef("take a backup with toolrun db backup DEST --server URL, and do it to that", "%s works on this machine alone, and takes no --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
	}
	return usagef("leave it out", "%s works on this machine alone, and takes no --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
}

// explainServer makes of a server's error the fault that it is about, with what the command line can do about it.
func explainServer(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	switch {
	case e.Status == 0 && untrusted(err):
		known := e.Fault.WithHint("--ca FILE names the authority that signed its certificate")
		known.Outcome = "" // nothing was sent
		return known
	case e.Status == 0 && expired(err):
		known := e.Fault.WithHint("the certificate of the server has expired, or is not valid yet: renew it there, or set the clock of this machine")
		known.Outcome = "" // nothing was sent
		return known
	case e.Fault.Outcome != "" && e.Status == 0:
		return e.Fault.WithHint("it is not known whether it was done; see there before it is repeated")
	case e.Fault.Code == abi.Unavailable && e.Status == 0:
		return e.Fault.WithHint("is toolrun serve running there?")
	case e.Status == 401:
		return e.Fault.WithHint("the key is that of --key-file, or of $%s", keyVariable)
	case strings.Contains(e.Fault.Hint, "?app="):
		return e.Fault.WithHint("name it with --app ID")
	}
	return e.Fault
}

// untrusted reports whether a server was not reached because no known authority signed its certificate.
func untrusted(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok || strings.Contains(err.Error(), "certificate signed by unknown authority")
}

// expired reports whether a server was not reached because its certificate is not valid at this time.
func expired(err error) bool {
	bad, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok && bad.Reason == x509.Expired || strings.Contains(err.Error(), "certificate has expired or is not yet valid")
}

// unknownName makes a mistake in the command, which said words, of an error that came because there is nothing of a name.
// None is the hint where list finds no names.
func unknownName(err error, name, said, none string, list func() ([]string, error)) error {
	if !errors.Is(err, abi.NotFound) {
		return err
	}
	known, failed := list()
	if failed != nil || slices.Contains(known, name) {
		return err
	}
	return &usageError{abi.Faultf(abi.NotFound, "%s", said).WithHint("%s", didYouMean(name, known, none))}
}

// namesOf makes a function that lists names of one that lists things.
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
