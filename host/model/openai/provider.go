package openai

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/toolrun/toolrun/host/model"
)

// The defaults of Options.
const (
	DefaultTimeout     = time.Minute
	DefaultAnswerBytes = 4 << 20
	DefaultTries       = 4
	DefaultBackoff     = 500 * time.Millisecond
)

// Options configures a Provider. If a field is zero, the field has its default value. No value of a
// field can disable a limit.
type Options struct {
	// BaseURL is the address of the API, such as https://api.openai.com/v1. Required.
	BaseURL string
	// Model is the name that the provider uses for the model. Required.
	Model string
	// Key is the API key. If Key is "", requests have no authorization header. Local servers need
	// no key.
	Key string
	// Timeout limits the total time of a request. Timeout includes all tries of the request.
	// Default: 1 minute.
	Timeout time.Duration
	// AnswerBytes is the maximum size of the body of an answer. Default: 4 MiB.
	AnswerBytes int
	// Tries limits how many times a request is sent. Default: 4.
	Tries int
	// Backoff is the maximum delay between the first and the second try. The maximum delay doubles
	// with every further try. The maximum delay never exceeds 16 times the Backoff. Default: 500ms.
	Backoff time.Duration
	// Proxy is the URL of the HTTP proxy for requests to the provider. If Proxy is "", no proxy is
	// used. Environment variables for proxies have no effect.
	Proxy string
	// Jitter returns a random number in [0,1). The random part of a delay is multiplied by this
	// number. Default: random. Jitter must be safe for concurrent use.
	Jitter func() float64
}

// A Provider is a chat model at a base URL. A Provider is safe for concurrent use.
type Provider struct {
	options Options
	base    *url.URL
	client  *http.Client
}

var _ model.Chat = (*Provider)(nil)

// New returns a provider. New opens no connection. The error lists all mistakes in the options. The
// error contains neither the key nor the URL.
func New(options Options) (*Provider, error) {
	base, errBase := parseURL("base_url", options.BaseURL)
	proxy, errProxy := (*url.URL)(nil), error(nil)
	if options.Proxy != "" {
		proxy, errProxy = parseURL("proxy", options.Proxy)
	}
	var errModel error
	if options.Model == "" {
		errModel = errors.New("model is missing")
	}
	if err := errors.Join(errBase, errProxy, errModel); err != nil {
		return nil, err
	}
	if options.Jitter == nil {
		options.Jitter = rand.Float64
	}
	options.Timeout = positive(options.Timeout, DefaultTimeout)
	options.AnswerBytes = positive(options.AnswerBytes, DefaultAnswerBytes)
	options.Tries = positive(options.Tries, DefaultTries)
	options.Backoff = positive(options.Backoff, DefaultBackoff)
	return &Provider{options: options, base: base, client: newClient(proxy)}, nil
}

func positive[T cmp.Ordered](v, standard T) T {
	var zero T
	if v <= zero {
		return standard
	}
	return v
}

// parseURL checks a URL. The errors of parseURL do not quote the URL, because the URL can contain
// credentials.
func parseURL(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New(name + " is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New(name + " must begin with http:// or https://")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New(name + " must not have a query or a fragment")
	}
	return u, nil
}

func newClient(proxy *url.URL) *http.Client {
	const maxHeaderBytes = 64 << 10
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    16,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ForceAttemptHTTP2:      true,
	}
	if proxy != nil {
		transport.Proxy = http.ProxyURL(proxy)
	}
	return &http.Client{Transport: transport, CheckRedirect: sameHost}
}

// sameHost rejects redirects to another host. A redirect to another host would send the prompt and
// the key to this host.
func sameHost(request *http.Request, via []*http.Request) error {
	const maxRedirects = 3
	first := via[0].URL
	if request.URL.Host != first.Host || request.URL.Scheme != first.Scheme || len(via) > maxRedirects {
		return errRedirect
	}
	return nil
}

// api returns a client for one request.
func (p *Provider) api(idempotencyKey string) *openai.Client {
	config := openai.DefaultConfig(p.options.Key)
	config.BaseURL = strings.TrimRight(p.base.String(), "/")
	config.HTTPClient = &sender{provider: p, idempotencyKey: idempotencyKey}
	return openai.NewClientWithConfig(config)
}
