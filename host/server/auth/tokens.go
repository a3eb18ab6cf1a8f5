package auth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // tells names by their case, and refuses one that comes twice
	"github.com/go-jose/go-jose/v4/jwt"
)

// algorithms are those of public keys. With the others who can verify can also sign (HS256), or anybody can (none);
// RFC 8725, section 3.1, has the verifier choose.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// leeway is by how much clocks may differ.
const leeway = time.Minute

// TokenOptions say whose tokens are taken.
type TokenOptions struct {
	// Issuer and Audience are what the claims iss and aud must be and hold; required.
	Issuer   string
	Audience string
	// KeysURL is where the issuer has its keys, a JWK Set (RFC 7517); KeysFile a file with one. One of them is
	// required. A file is read again when it changed.
	KeysURL  string
	KeysFile string
	// AllowHTTP takes a KeysURL that anybody on the way can answer. Default: only https, or http on this machine.
	AllowHTTP bool

	// TenantClaim, UserClaim and SessionClaim name the claims that hold them. Default: tenant, sub, session_id.
	TenantClaim  string
	UserClaim    string
	SessionClaim string
	// Tenant is that of tokens which name none. Default: such tokens are refused.
	Tenant string

	// Transport is the way to KeysURL. Default: http.DefaultTransport.
	Transport http.RoundTripper
	// Logger gets why keys cannot be had. Default: discard.
	Logger *slog.Logger
	// Now is the clock. Default: the system's.
	Now func() time.Time
}

// Tokens are JWTs (RFC 7519) of one issuer. It is safe for concurrent use.
type Tokens struct {
	options    TokenOptions
	keys       keySource
	rejections rejections
}

// NewTokens checks the options and reports everything that is wrong with them. It reads KeysFile, and leaves KeysURL for
// the first token: an issuer may start later than who trusts it.
func NewTokens(options TokenOptions) (*Tokens, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	t := &Tokens{options: options}
	if options.KeysURL != "" {
		t.keys = &remoteKeys{url: options.KeysURL, fetcher: &fetcher{next: options.Transport, now: options.Now, log: options.Logger}}
		return t, nil
	}
	keys, err := openFileKeys(options.KeysFile, options.Logger)
	if err != nil {
		return nil, err
	}
	t.keys = keys
	return t, nil
}

func (o TokenOptions) check() error {
	var wrong []error
	if o.Issuer == "" {
		wrong = append(wrong, errors.New("tokens need an issuer"))
	}
	if o.Audience == "" {
		wrong = append(wrong, errors.New("tokens need an audience"))
	}
	if o.Tenant != "" {
		wrong = append(wrong, checkID("tenant", o.Tenant))
	}
	if (o.KeysURL == "") == (o.KeysFile == "") {
		wrong = append(wrong, errors.New("the issuer's keys are at a URL or in a file: give one of them"))
	}
	if o.KeysURL != "" {
		wrong = append(wrong, checkURL(o.KeysURL, o.AllowHTTP))
	}
	return errors.Join(wrong...)
}

func checkURL(text string, allowHTTP bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the URL of the issuer's keys is not one of the web")
	case u.User != nil:
		return errors.New("the URL of the issuer's keys holds a password: the keys are public")
	case u.Scheme == "http" && !allowHTTP && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		return errors.New("the URL of the issuer's keys must be https: who can answer it can make tokens")
	}
	return nil
}

func (o TokenOptions) withDefaults() TokenOptions {
	o.TenantClaim = cmp.Or(o.TenantClaim, "tenant")
	o.UserClaim = cmp.Or(o.UserClaim, "sub")
	o.SessionClaim = cmp.Or(o.SessionClaim, "session_id")
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Probe asks the issuer for its keys, for 5 seconds at most, and returns why they cannot be had. It keeps the keys that it
// gets. Where the keys are in a file it does nothing.
func (t *Tokens) Probe(ctx context.Context) error {
	source, ok := t.keys.(*remoteKeys)
	if !ok {
		return nil
	}
	return source.fetcher.probe(ctx, source.url)
}

// Verify returns whom a token stands for. The error is Invalid; Expired for a token that was good once; or
// abi.Unavailable where the issuer's keys cannot be had, for which it waits a few seconds at most.
func (t *Tokens) Verify(ctx context.Context, token string) (Principal, error) {
	if len(token) > maxCredential {
		return Principal{}, Invalid
	}
	parsed, err := jwt.ParseSigned(token, algorithms) // the compact form alone
	if err != nil {
		return Principal{}, t.refused("it is not a signed JWT of an algorithm that is taken")
	}
	if parsed.Headers[0].KeyID == "" {
		return Principal{}, t.refused("its header names no key: kid is missing")
	}
	now := t.options.Now()
	payload, err := t.keys.verify(ctx, token, signer{parsed.Headers[0].KeyID, parsed.Headers[0].Algorithm}, now)
	if errors.Is(err, errUnknownKey) {
		return Principal{}, t.refused("the issuer has no key of its kid: it is of another issuer, or signed with a key that is no longer, or not yet, in the JWK Set")
	}
	if errors.Is(err, Invalid) {
		return Principal{}, t.refused("its signature is not that of a key of the issuer: it is forged, or of another issuer")
	}
	if err != nil {
		return Principal{}, err
	}
	return t.principal(payload, now)
}

// refused logs why a token is not taken. The sender does not learn it.
func (t *Tokens) refused(why string) error {
	t.rejections.log(t.options.Logger, t.options.Now(), why)
	return Invalid
}

// refusalEvery is how often the same reason is logged: strangers send as many tokens as they like.
const rejectionLogEvery = 10 * time.Second

// refusals log why tokens are refused, each reason now and then. It is safe for concurrent use.
type rejections struct {
	mu      sync.Mutex
	reasons map[string]*rejectionCount // by the text of the reason, of which there are few
}

type rejectionCount struct {
	logged time.Time
	since  int // that were not logged
}

func (r *rejections) log(log *slog.Logger, now time.Time, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reasons == nil {
		r.reasons = map[string]*rejectionCount{}
	}
	known := r.reasons[why]
	if known == nil {
		known = &rejectionCount{}
		r.reasons[why] = known
	} else if age := now.Sub(known.logged); 0 <= age && age < rejectionLogEvery {
		known.since++
		return
	}
	log.Warn("a token was refused", "why", why, "more", known.since)
	known.logged, known.since = now, 0
}

// principal looks at what a token says whose signature is good.
func (t *Tokens) principal(payload []byte, now time.Time) (Principal, error) {
	var registered jwt.Claims
	var all map[string]any
	if json.Unmarshal(payload, &registered) != nil || json.Unmarshal(payload, &all) != nil {
		return Principal{}, t.refused("its claims are not a JSON object as RFC 7519 has it")
	}
	if registered.Expiry == nil {
		return Principal{}, t.refused("it never expires: the claim exp is missing")
	}
	expected := jwt.Expected{Issuer: t.options.Issuer, AnyAudience: jwt.Audience{t.options.Audience}, Time: now}
	expired := false
	if err := registered.ValidateWithLeeway(expected, leeway); errors.Is(err, jwt.ErrExpired) {
		expired = true
	} else if err != nil {
		return Principal{}, t.refused("it is of another issuer or audience, or not valid yet")
	}
	tenant, okTenant := claim(all, t.options.TenantClaim)
	user, okUser := claim(all, t.options.UserClaim)
	session, okSession := claim(all, t.options.SessionClaim)
	subject, okSubject := claim(all, "sub")
	tenant = cmp.Or(tenant, t.options.Tenant)
	switch {
	case tenant == "":
		return Principal{}, t.refused("the claim of the tenant is missing: " + t.options.TenantClaim)
	case user == "":
		return Principal{}, t.refused("the claim of the user is missing: " + t.options.UserClaim)
	case !okTenant || !okUser || !okSession || !okSubject:
		return Principal{}, t.refused("a claim is no text that an id may be")
	case expired:
		_ = t.refused("it has expired")
		return Principal{}, Expired
	}
	return Principal{Role: User, Tenant: tenant, User: user, Session: session, Name: cmp.Or(subject, user)}, nil
}

// claim returns the id that a claim holds, "" where there is no such claim, and false for what is no id. An empty text
// is none: a claim that is there must not count as one that is not.
func claim(all map[string]any, name string) (string, bool) {
	value, there := all[name]
	if !there { // null is no text, and not absent either
		return "", true
	}
	text, ok := value.(string)
	return text, ok && checkID(name, text) == nil
}
