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
	"github.com/go-jose/go-jose/v4/json" // json: case-sensitive names, duplicate names are rejected
	"github.com/go-jose/go-jose/v4/jwt"
)

// algorithms lists the accepted public-key algorithms. HS256 is not accepted, because a verifier of
// HS256 signatures could also sign tokens. "none" is not accepted, because tokens without a
// signature can be forged. The verifier, not the token, must determine which algorithms are
// accepted (RFC 8725, section 3.1).
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// leeway is the maximum accepted clock skew.
const leeway = time.Minute

// TokenOptions configure which tokens are accepted.
type TokenOptions struct {
	// Issuer and Audience are the values that the claims iss and aud of a token must have. Both
	// fields must be set.
	Issuer   string
	Audience string
	// KeysURL is the URL of the issuer's JWK Set (RFC 7517). KeysFile is a file with a JWK Set,
	// which is reloaded when it changes. Exactly one of the fields KeysURL and KeysFile is
	// required.
	KeysURL  string
	KeysFile string
	// AllowHTTP accepts a KeysURL without TLS. Without TLS, an attacker on the network could forge
	// the keys. By default, KeysURL must use https, or http on localhost.
	AllowHTTP bool

	// TenantClaim, UserClaim, SessionClaim and WorkflowClaim are the names of the claims for the
	// tenant, the user, the session and the workflow. Default: tenant, sub, session_id, workflow_id.
	TenantClaim   string
	UserClaim     string
	SessionClaim  string
	WorkflowClaim string
	// Tenant is the tenant of tokens without a tenant claim. By default, tokens without a tenant
	// claim are rejected.
	Tenant string

	// Transport is used to fetch KeysURL. Default: http.DefaultTransport.
	Transport http.RoundTripper
	// Logger receives the errors that occur when keys are fetched, and the reasons for the
	// rejection of tokens. Default: they are discarded.
	Logger *slog.Logger
	// Now is the clock. Default: the system clock.
	Now func() time.Time
}

// Tokens verifies JWTs (RFC 7519) of one issuer. Tokens is safe for concurrent use.
type Tokens struct {
	options    TokenOptions
	keys       keySource
	rejections rejections
}

// NewTokens returns Tokens. The error reports all invalid options. NewTokens reads KeysFile
// immediately. The keys are fetched when the first token is verified, because the issuer can start
// later than the service.
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
		wrong = append(wrong, errors.New("the issuer of the tokens is not set"))
	}
	if o.Audience == "" {
		wrong = append(wrong, errors.New("the audience of the tokens is not set"))
	}
	if o.Tenant != "" {
		wrong = append(wrong, checkID("tenant", o.Tenant))
	}
	if (o.KeysURL == "") == (o.KeysFile == "") {
		wrong = append(wrong, errors.New("set either the URL or the file of the issuer's keys, not both"))
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
		return errors.New("the URL of the issuer's keys is not an http or https URL")
	case u.User != nil:
		return errors.New("the URL of the issuer's keys contains a password; the keys are public")
	case u.Scheme == "http" && !allowHTTP && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		return errors.New("the URL of the issuer's keys must use https; otherwise attackers can forge the keys")
	}
	return nil
}

func (o TokenOptions) withDefaults() TokenOptions {
	o.TenantClaim = cmp.Or(o.TenantClaim, "tenant")
	o.UserClaim = cmp.Or(o.UserClaim, "sub")
	o.SessionClaim = cmp.Or(o.SessionClaim, "session_id")
	o.WorkflowClaim = cmp.Or(o.WorkflowClaim, "workflow_id")
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

// Probe fetches and stores the keys of the issuer. If the keys cannot be fetched within 5 seconds,
// Probe returns an error. If the keys are in a file, Probe does nothing.
func (t *Tokens) Probe(ctx context.Context) error {
	source, ok := t.keys.(*remoteKeys)
	if !ok {
		return nil
	}
	return source.fetcher.probe(ctx, source.url)
}

// Verify returns the principal of a token. If the token is no longer valid, the error is Expired.
// If the keys of the issuer cannot be fetched within a few seconds, the error is abi.Unavailable.
// In all other cases, the error is Invalid.
func (t *Tokens) Verify(ctx context.Context, token string) (Principal, error) {
	if len(token) > maxCredential {
		return Principal{}, Invalid
	}
	parsed, err := jwt.ParseSigned(token, algorithms) // accept only the compact form
	if err != nil {
		return Principal{}, t.refused("the token is not a JWT signed with an accepted algorithm")
	}
	if parsed.Headers[0].KeyID == "" {
		return Principal{}, t.refused("the token header has no key id (kid)")
	}
	now := t.options.Now()
	payload, err := t.keys.verify(ctx, token, signer{parsed.Headers[0].KeyID, parsed.Headers[0].Algorithm}, now)
	if errors.Is(err, errUnknownKey) {
		return Principal{}, t.refused("the JWK Set has no key with the key id (kid) of the token: the token is from another issuer, or the key is expired or not yet published")
	}
	if errors.Is(err, Invalid) {
		return Principal{}, t.refused("the signature does not match the issuer's key: the token is forged or from another issuer")
	}
	if err != nil {
		return Principal{}, err
	}
	return t.principal(payload, now)
}

// refused logs why a token was rejected. The sender does not receive the reason.
func (t *Tokens) refused(why string) error {
	t.rejections.log(t.options.Logger, t.options.Now(), why)
	return Invalid
}

// rejectionLogEvery is the minimum interval between log lines with the same reason. The rate is
// limited, because attackers can send any number of tokens.
const rejectionLogEvery = 10 * time.Second

// rejections logs the reasons for rejected tokens. The rate of log lines is limited for each
// reason. rejections is safe for concurrent use.
type rejections struct {
	mu      sync.Mutex
	reasons map[string]*rejectionCount // by reason; the number of different reasons is small
}

type rejectionCount struct {
	logged time.Time
	since  int // number of rejections that were not logged
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
	log.Warn("a token was rejected", "reason", why, "more", known.since)
	known.logged, known.since = now, 0
}

// principal returns the principal of a token with a valid signature.
func (t *Tokens) principal(payload []byte, now time.Time) (Principal, error) {
	var registered jwt.Claims
	var all map[string]any
	if json.Unmarshal(payload, &registered) != nil || json.Unmarshal(payload, &all) != nil {
		return Principal{}, t.refused("the claims are not a valid JSON object (RFC 7519)")
	}
	if registered.Expiry == nil {
		return Principal{}, t.refused("the claim exp is missing")
	}
	expected := jwt.Expected{Issuer: t.options.Issuer, AnyAudience: jwt.Audience{t.options.Audience}, Time: now}
	expired := false
	if err := registered.ValidateWithLeeway(expected, leeway); errors.Is(err, jwt.ErrExpired) {
		expired = true
	} else if err != nil {
		return Principal{}, t.refused("the token is from another issuer, for another audience, or not valid yet")
	}
	tenant, okTenant := claim(all, t.options.TenantClaim)
	user, okUser := claim(all, t.options.UserClaim)
	session, okSession := claim(all, t.options.SessionClaim)
	workflow, okWorkflow := claim(all, t.options.WorkflowClaim)
	subject, okSubject := claim(all, "sub")
	tenant = cmp.Or(tenant, t.options.Tenant)
	switch {
	case tenant == "":
		return Principal{}, t.refused("the tenant claim is missing: " + t.options.TenantClaim)
	case user == "":
		return Principal{}, t.refused("the user claim is missing: " + t.options.UserClaim)
	case !okTenant || !okUser || !okSession || !okWorkflow || !okSubject:
		return Principal{}, t.refused("a claim is not a valid id")
	case expired:
		_ = t.refused("the token has expired")
		return Principal{}, Expired
	}
	return Principal{Role: User, Tenant: tenant, User: user, Session: session, Workflow: workflow, Name: cmp.Or(subject, user)}, nil
}

// claim returns the id in a claim, or "" if the claim is missing. ok is false if the claim is not a
// valid id. An empty text is not a valid id, because the result "" means that the claim is missing.
func claim(all map[string]any, name string) (string, bool) {
	value, there := all[name]
	if !there { // null is neither a string nor missing
		return "", true
	}
	text, ok := value.(string)
	return text, ok && checkID(name, text) == nil
}
