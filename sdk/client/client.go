package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Options configure a Client. URL is required.
type Options struct {
	// URL is the URL of the service, such as https://tools.example or http://127.0.0.1:8080. URL
	// can have a path if a proxy serves the API below that path.
	URL string
	// Key is an API key, or a token (JWT) of the platform's issuer. The client sends the Key with
	// every request, and only to URL. Errors never contain it.
	Key string
	// App is the id of the app to use. The default is the app of the key, if the key is for exactly
	// one app.
	App string
	// HTTPClient sends the requests. The CheckRedirect of HTTPClient is ignored: redirects are not
	// followed, so the key is never sent to another server. The default of HTTPClient is a client
	// without a timeout, because every call has a context.
	HTTPClient *http.Client
	// UserAgent identifies the client in the logs of the service. The default is toolrun-go.
	UserAgent string
	// Retries is the maximum number of retries of a request. A request is retried only if it is
	// safe to repeat and the response has a Retry-After header. The default is 3. If Retries is
	// negative, no request is retried.
	Retries int
}

// DefaultUserAgent is the default of Options.UserAgent.
const DefaultUserAgent = "toolrun-go"

// defaultRetries is the default of Options.Retries.
const defaultRetries = 3

// Client is a client of the API of one service. Client is safe for concurrent use.
type Client struct {
	base    string // the URL of the service without a trailing slash
	app     string
	agent   string
	retries int
	http    *http.Client
	// authorize adds the key to a request. authorize is a closure, so printing a Client does not
	// reveal the key.
	authorize func(http.Header)
}

// New returns a Client. New opens no connection. The error reports all invalid options.
func New(opts Options) (*Client, error) {
	base, err := parseBase(opts.URL)
	if strings.ContainsFunc(opts.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		err = errors.Join(err, errors.New("client: Options.Key contains spaces, line breaks or other invalid characters"))
	}
	if strings.ContainsFunc(opts.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		err = errors.Join(err, errors.New("client: Options.UserAgent contains characters that are invalid in a header"))
	}
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, app: opts.App, agent: opts.UserAgent, retries: opts.Retries, http: &http.Client{}}
	if opts.HTTPClient != nil {
		*c.http = *opts.HTTPClient
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.agent == "" {
		c.agent = DefaultUserAgent
	}
	if c.retries == 0 {
		c.retries = defaultRetries
	}
	c.authorize = func(h http.Header) {
		if opts.Key != "" {
			h.Set("Authorization", "Bearer "+opts.Key)
		}
	}
	return c, nil
}

// parseBase validates and parses the URL of a service. If the URL could contain a password, errors
// do not quote the URL.
func parseBase(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", errors.New("client: Options.URL is required")
	case err != nil:
		return "", errors.New("client: Options.URL is not a valid URL")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("client: Options.URL must not contain a user name, a query or a fragment")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf("client: Options.URL is %q; want a URL such as https://tools.example", text)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Caller identifies the user, the session and the workflow of a request. If an operation does not
// need a field, the field can be "". If the credentials belong to a user, requests act only for
// that user.
type Caller struct {
	User, Session, Workflow string
	// Agent is the active agent. Only the methods of Memory and Render use the Agent.
	Agent string
}
