package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Options are what a Client is made of. URL is required.
type Options struct {
	// URL is where the service is, such as https://tools.example or http://127.0.0.1:8080. It may have a path, where a
	// proxy serves the API below one.
	URL string
	// Key is an API key, or a token (JWT) of the platform's issuer. It is sent with every request, to this URL alone, and is
	// in no error.
	Key string
	// App is the id of the app that requests are about. Default: the only one that the key is for.
	App string
	// HTTPClient sends the requests. Its CheckRedirect is not used: no redirect is followed, for the key must not go
	// elsewhere. Default: one without a timeout, as ctx bounds every call.
	HTTPClient *http.Client
	// UserAgent says in the service's logs who asks. Default: toolrun-go.
	UserAgent string
	// Retries is how often a request that is safe to repeat is sent again when the service says with Retry-After how soon
	// to ask again. Default 3; negative for never.
	Retries int
}

// DefaultUserAgent is the User-Agent of a client that is given none.
const DefaultUserAgent = "toolrun-go"

// defaultRetries is the default of Options.Retries.
const defaultRetries = 3

// Client calls the API of one service. It is safe for concurrent use.
type Client struct {
	base    string // the URL with no slash at its end
	app     string
	agent   string
	retries int
	http    *http.Client
	// authorize adds the key. It is a function so that no way of printing a Client shows the key.
	authorize func(http.Header)
}

// New makes a Client. It connects to nothing; the error tells every mistake in opts.
func New(opts Options) (*Client, error) {
	base, err := parseBase(opts.URL)
	if strings.ContainsFunc(opts.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		err = errors.Join(err, errors.New("client: Options.Key holds spaces, line breaks or letters that no key has"))
	}
	if strings.ContainsFunc(opts.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		err = errors.Join(err, errors.New("client: Options.UserAgent holds what no header may"))
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

// parseBase checks the URL of a service. Its errors do not quote a URL that may hold a password.
func parseBase(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", errors.New("client: Options.URL is required")
	case err != nil:
		return "", errors.New("client: Options.URL is no URL")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("client: Options.URL has a user, a query or a fragment; it is an address alone")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf("client: Options.URL is %q; want one such as https://tools.example", text)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Caller is for whom a request acts. Both may be "": an operation says what it needs, and credentials of a user act for
// that user alone.
type Caller struct{ User, Session string }
