package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/auth"
)

// issuer creates tokens with its own key.
type issuer struct {
	alg     jose.SignatureAlgorithm
	private any
	public  jose.JSONWebKey
	kid     string
}

func newIssuer(t testing.TB, alg string) *issuer {
	t.Helper()
	i := &issuer{alg: jose.SignatureAlgorithm(alg), kid: "k1"}
	var err error
	switch {
	case alg == "EdDSA":
		_, key, e := ed25519.GenerateKey(rand.Reader)
		i.private, i.public.Key, err = key, key.Public(), e
	case alg == "ES256":
		key, e := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		i.private, i.public.Key, err = key, &key.PublicKey, e
	default:
		key, e := rsa.GenerateKey(rand.Reader, 2048)
		i.private, i.public.Key, err = key, &key.PublicKey, e
	}
	if err != nil {
		t.Fatal(err)
	}
	i.public.KeyID = i.kid
	return i
}

// claims returns the claims of a valid token.
func (i *issuer) claims() map[string]any {
	return map[string]any{
		"iss": "https://issuer.example", "aud": []string{"other", "toolrun"}, "sub": "ann", "tenant": "acme",
		"exp": start.Add(time.Hour).Unix(), "nbf": start.Unix(), "iat": start.Unix(),
	}
}

func (i *issuer) sign(t testing.TB, claims map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return i.signText(t, payload)
}

func (i *issuer) signText(t testing.TB, payload []byte) string {
	t.Helper()
	options := &jose.SignerOptions{}
	if i.kid != "" {
		options = options.WithHeader("kid", i.kid)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: i.alg, Key: i.private}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func keySet(t testing.TB, keys ...jose.JSONWebKey) string {
	t.Helper()
	data, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tokens returns Tokens that accept the tokens of the issuer. The keys of the issuer are in a file.
func (i *issuer) tokens(t testing.TB, change func(*auth.TokenOptions)) *auth.Tokens {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jwks.json")
	write(t, path, keySet(t, i.public))
	return newTokens(t, auth.TokenOptions{KeysFile: path}, change)
}

func newTokens(t testing.TB, o auth.TokenOptions, change func(*auth.TokenOptions)) *auth.Tokens {
	t.Helper()
	o.Issuer, o.Audience, o.Now = "https://issuer.example", "toolrun", now
	if change != nil {
		change(&o)
	}
	tokens, err := auth.NewTokens(o)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestTokenAlgorithms(t *testing.T) {
	for _, alg := range []string{"RS256", "PS512", "ES256", "EdDSA"} {
		i := newIssuer(t, alg)
		claims := i.claims()
		claims["session_id"], claims["workflow_id"] = "s1", "w1"
		got, err := i.tokens(t, nil).Verify(t.Context(), i.sign(t, claims))
		want := auth.Principal{Role: auth.User, Tenant: "acme", User: "ann", Session: "s1", Workflow: "w1", Name: "ann"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: Verify: %v (-want +got):\n%s", alg, err, diff)
		}
	}
}

func TestTokenClaims(t *testing.T) {
	i := newIssuer(t, "EdDSA")
	tokens := i.tokens(t, nil)
	at := func(d time.Duration) int64 { return start.Add(d).Unix() }
	for _, tt := range []struct {
		name, claim string
		value       any // nil removes a claim
		want        error
	}{
		{"as it is", "jti", "1", nil},
		{"expired, and clocks differ", "exp", at(-59 * time.Second), nil},
		{"expired", "exp", at(-61 * time.Second), auth.Expired},
		{"never expires", "exp", nil, auth.Invalid},
		{"expires as a text", "exp", "2099-01-01", auth.Invalid},
		{"expires beyond time", "exp", 1e300, auth.Invalid},
		{"soon, and clocks differ", "nbf", at(59 * time.Second), nil},
		{"not yet", "nbf", at(61 * time.Second), auth.Invalid},
		{"no nbf", "nbf", nil, nil},
		{"issued soon, and clocks differ", "iat", at(59 * time.Second), nil},
		{"issued in the future", "iat", at(61 * time.Second), auth.Invalid},
		{"another issuer", "iss", "https://issuer.example/", auth.Invalid},
		{"no issuer", "iss", nil, auth.Invalid},
		{"another audience", "aud", "other", auth.Invalid},
		{"one audience", "aud", "toolrun", nil},
		{"no audience", "aud", nil, auth.Invalid},
		{"no user", "sub", nil, auth.Invalid},
		{"an empty user", "sub", "", auth.Invalid},
		{"a user that is a number", "sub", 7, auth.Invalid},
		{"a user over two lines", "sub", "a\nb", auth.Invalid},
		{"a long user", "sub", strings.Repeat("a", 257), auth.Invalid},
		{"no tenant", "tenant", nil, auth.Invalid},
		{"tenants", "tenant", []string{"acme"}, auth.Invalid},
		{"an empty session", "session_id", "", auth.Invalid},
		{"a session that is a number", "session_id", 1, auth.Invalid},
		{"an empty workflow", "workflow_id", "", auth.Invalid},
		{"a claim in another case", "SUB", "ben", nil},
		{"a role that it gives itself", "role", "operator", nil},
	} {
		claims := i.claims()
		if tt.value == nil {
			delete(claims, tt.claim)
		} else {
			claims[tt.claim] = tt.value
		}
		p, err := tokens.Verify(t.Context(), i.sign(t, claims))
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: Verify = %v; want %v", tt.name, err, tt.want)
		}
		if err == nil && (p.User != "ann" || p.Role != auth.User) {
			t.Errorf("%s: Verify = %+v", tt.name, p)
		}
	}
	for _, payload := range []string{`[]`, `null`, `"x"`, ``, `{"sub":"ann","sub":"ben","tenant":"acme","iss":"https://issuer.example","aud":"toolrun","exp":4000000000}`} {
		if p, err := tokens.Verify(t.Context(), i.signText(t, []byte(payload))); !errors.Is(err, auth.Invalid) {
			t.Errorf("the payload %s: Verify = %+v, %v", payload, p, err)
		}
	}
}

func TestTokenClaimNames(t *testing.T) {
	i := newIssuer(t, "EdDSA")
	tokens := i.tokens(t, func(o *auth.TokenOptions) {
		o.TenantClaim, o.UserClaim, o.SessionClaim, o.WorkflowClaim, o.Tenant = "org", "https://issuer.example/user", "sid", "wid", "default"
	})
	claims := i.claims()
	maps.Copy(claims, map[string]any{"https://issuer.example/user": "u1", "sid": "s1", "session_id": "s2", "wid": "w1"})
	want := auth.Principal{Role: auth.User, Tenant: "default", User: "u1", Session: "s1", Workflow: "w1", Name: "ann"}
	got, err := tokens.Verify(t.Context(), i.sign(t, claims))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Verify: %v (-want +got):\n%s", err, diff)
	}
	claims["org"], want.Tenant = "acme", "acme"
	if got, _ = tokens.Verify(t.Context(), i.sign(t, claims)); got.Tenant != "acme" {
		t.Errorf("the tenant is %q; want that of the claim", got.Tenant)
	}
}

// TestForgedTokens verifies tokens that have no valid signature.
func TestForgedTokens(t *testing.T) {
	i, other := newIssuer(t, "RS256"), newIssuer(t, "RS256")
	tokens := i.tokens(t, nil)
	good := i.sign(t, i.claims())
	parts := strings.Split(good, ".")
	encode := base64.RawURLEncoding.EncodeToString
	mallory := i.claims()
	mallory["sub"] = "mallory"
	payload, err := json.Marshal(mallory)
	if err != nil {
		t.Fatal(err)
	}
	spki := []byte(keySet(t, i.public)) // a vulnerable verifier would use the public key as an HS256 secret
	symmetric := &issuer{alg: jose.HS256, private: spki, kid: i.kid}
	otherKid, noKid := *i, *i
	otherKid.kid, noKid.kid = "k2", ""
	embedded := `{"alg":"RS256","kid":"k1","jwk":` + strings.TrimSuffix(strings.TrimPrefix(keySet(t, other.public), `{"keys":[`), `]}`) + `}`
	for name, token := range map[string]string{
		"another payload":        parts[0] + "." + encode(payload) + "." + parts[2],
		"another's signature":    other.sign(t, i.claims()),
		"no signature":           parts[0] + "." + parts[1] + ".",
		"none":                   encode([]byte(`{"alg":"none","kid":"k1"}`)) + "." + encode(payload) + ".",
		"None":                   encode([]byte(`{"alg":"None","kid":"k1"}`)) + "." + encode(payload) + ".",
		"HS256":                  symmetric.sign(t, mallory),
		"a key that it brings":   encode([]byte(embedded)) + "." + strings.Join(strings.Split(other.sign(t, mallory), ".")[1:], "."),
		"an unknown kid":         otherKid.sign(t, i.claims()),
		"no kid":                 noKid.sign(t, i.claims()),
		"the JSON serialization": `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`,
		"two parts":              parts[0] + "." + parts[1],
		"long":                   good + strings.Repeat("A", 20_000),
		"nothing":                "",
	} {
		if p, err := tokens.Verify(t.Context(), token); !errors.Is(err, auth.Invalid) || p.User != "" {
			t.Errorf("%s: Verify = %+v, %v; want invalid", name, p, err)
		}
	}
	if _, err := tokens.Verify(t.Context(), good); err != nil {
		t.Errorf("the valid token: %v", err)
	}
}

func TestNewTokensRefuses(t *testing.T) {
	const file = "set either the URL or the file"
	for _, tt := range []struct {
		name    string
		options auth.TokenOptions
		want    []string
	}{
		{"nothing", auth.TokenOptions{}, []string{"issuer", "audience", file}},
		{"both", auth.TokenOptions{Issuer: "i", Audience: "a", KeysURL: "https://i.example", KeysFile: "f"}, []string{file}},
		{"http", auth.TokenOptions{Issuer: "i", Audience: "a", KeysURL: "http://i.example/keys"}, []string{"must use https"}},
		{"a password", auth.TokenOptions{Issuer: "i", Audience: "a", KeysURL: "https://a:b@i.example/keys"}, []string{"password"}},
		{"no address", auth.TokenOptions{Issuer: "i", Audience: "a", KeysURL: "file:///etc/keys"}, []string{"not an http or https URL"}},
		{"no file", auth.TokenOptions{Issuer: "i", Audience: "a", KeysFile: filepath.Join(t.TempDir(), "none")}, []string{"no such file"}},
	} {
		_, err := auth.NewTokens(tt.options)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: NewTokens = %v; want an error with %q", tt.name, err, want)
			}
		}
	}
	for _, url := range []string{"http://localhost:1/keys", "http://127.0.0.1:1/keys", "http://[::1]/keys"} {
		if _, err := auth.NewTokens(auth.TokenOptions{Issuer: "i", Audience: "a", KeysURL: url}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestKeySetFile(t *testing.T) {
	i := newIssuer(t, "EdDSA")
	private, forEncryption, noKid, symmetric := i.public, i.public, i.public, i.public
	private.Key, forEncryption.Use, noKid.KeyID, symmetric.Key = i.private, "enc", "", []byte("0123456789abcdef0123456789abcdef")
	path := filepath.Join(t.TempDir(), "jwks.json")
	for name, content := range map[string]string{
		"empty": ``, "no keys": `{"keys":[]}`, "a private key": keySet(t, private), "a key for encryption": keySet(t, forEncryption),
		"no kid": keySet(t, noKid), "a shared secret": keySet(t, symmetric), "an unknown kind": `{"keys":[{"kty":"LWE","kid":"k1"}]}`,
	} {
		write(t, path, content)
		if _, err := auth.NewTokens(auth.TokenOptions{Issuer: "i", Audience: "a", KeysFile: path}); err == nil {
			t.Errorf("%s: NewTokens = nil; want an error", name)
		}
	}
	// At first, the key set contains one usable key and several keys that are ignored. Then, a
	// second usable key replaces the first key.
	write(t, path, strings.Replace(keySet(t, private, i.public), `{"keys":[`, `{"keys":[{"kty":"LWE","kid":"k1"},`, 1))
	at := time.Now()
	tokens := newTokens(t, auth.TokenOptions{KeysFile: path}, func(o *auth.TokenOptions) { o.Now = func() time.Time { return at } })
	claims := i.claims()
	claims["exp"], claims["nbf"], claims["iat"] = at.Add(time.Hour).Unix(), at.Unix(), at.Unix()
	token := i.sign(t, claims)
	if _, err := tokens.Verify(t.Context(), token); err != nil {
		t.Errorf("the key among others: %v", err)
	}
	write(t, path, keySet(t, newIssuer(t, "EdDSA").public))
	at = at.Add(2 * time.Second)
	if _, err := tokens.Verify(t.Context(), token); !errors.Is(err, auth.Invalid) {
		t.Errorf("after the key was replaced: %v; want invalid", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.NewTokens(auth.TokenOptions{Issuer: "i", Audience: "a", KeysFile: path}); err == nil {
		t.Error("NewTokens with a world-writable key file = nil; want an error")
	}
}

// server is an issuer whose keys are at a URL.
type server struct {
	*httptest.Server
	answer    atomic.Pointer[http.HandlerFunc]
	requested atomic.Int32
}

func newServer(t testing.TB) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requested.Add(1)
		(*s.answer.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) says(status int, body string) {
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

func (s *server) answers(f http.HandlerFunc) { s.answer.Store(&f) }

// remote is an issuer that is reached without a network, so that synctest can control the time of
// the test.
type remote struct {
	tokens    *auth.Tokens
	requested int
	answer    func(*http.Request) (status int, body string, err error)
}

func newRemote(t *testing.T) *remote {
	r := &remote{}
	r.tokens = newTokens(t, auth.TokenOptions{KeysURL: "https://issuer.example/keys", Transport: r}, func(o *auth.TokenOptions) { o.Now = time.Now })
	return r
}

func (r *remote) RoundTrip(request *http.Request) (*http.Response, error) {
	r.requested++
	status, body, err := r.answer(request)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func (r *remote) says(status int, body string) {
	r.answer = func(*http.Request) (int, string, error) { return status, body, nil }
}

// silent is an issuer that never responds.
func silent(r *http.Request) (int, string, error) {
	<-r.Context().Done()
	return 0, "", r.Context().Err()
}

// verify verifies a token, and then checks the outcome and the number of requests to the issuer.
func (r *remote) verify(t *testing.T, ctx context.Context, what string, i *issuer, want error, requested int) {
	t.Helper()
	r.requested = 0
	claims := i.claims()
	claims["exp"], claims["nbf"], claims["iat"] = time.Now().Add(time.Hour).Unix(), time.Now().Unix(), time.Now().Unix()
	_, err := r.tokens.Verify(ctx, i.sign(t, claims))
	synctest.Wait() // waits until the key set has processed the response
	if !errors.Is(err, want) || (err == nil) != (want == nil) || r.requested != requested {
		t.Errorf("%s: Verify = %v, and the issuer got %d requests; want %v and %d", what, err, r.requested, want, requested)
	}
}

func TestKeySetURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, r := t.Context(), newRemote(t)
		first, second, forged := newIssuer(t, "EdDSA"), newIssuer(t, "EdDSA"), newIssuer(t, "EdDSA")
		second.kid, second.public.KeyID = "k2", "k2"
		noKid := *first
		noKid.kid = ""

		r.says(http.StatusInternalServerError, "")
		r.verify(t, ctx, "the issuer is down", first, abi.Unavailable, 1)
		r.verify(t, ctx, "and is not asked again at once", first, abi.Unavailable, 0)
		r.says(http.StatusOK, keySet(t, first.public))
		time.Sleep(time.Second)
		r.verify(t, ctx, "it is back", first, nil, 1)
		for range 3 {
			r.verify(t, ctx, "a known key", first, nil, 0)
			r.verify(t, ctx, "a forged token", forged, auth.Invalid, 0)
			r.verify(t, ctx, "an unknown key", second, auth.Invalid, 0)
			r.verify(t, ctx, "no kid", &noKid, auth.Invalid, 0)
		}
		r.says(http.StatusOK, keySet(t, first.public, second.public))
		time.Sleep(10 * time.Second)
		r.verify(t, ctx, "a new key", second, nil, 1)
		r.says(http.StatusOK, keySet(t, second.public))
		r.verify(t, ctx, "a key that was taken back a moment ago", first, nil, 0)
		time.Sleep(15 * time.Minute)
		r.verify(t, ctx, "the same, later", first, auth.Invalid, 1)
		r.says(http.StatusBadGateway, "")
		time.Sleep(15 * time.Minute)
		r.verify(t, ctx, "a known key while the issuer is down", second, nil, 1)
		r.verify(t, ctx, "an unknown one", first, abi.Unavailable, 0)
		time.Sleep(24 * time.Hour)
		r.verify(t, ctx, "a key known a day ago", second, abi.Unavailable, 1)
	})
}

// TestSilentIssuer checks the maximum wait for an issuer that does not respond.
func TestSilentIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, first, second := newRemote(t), newIssuer(t, "EdDSA"), newIssuer(t, "EdDSA")
		second.kid = "k2"
		r.says(http.StatusOK, keySet(t, first.public))
		r.verify(t, t.Context(), "it answers", first, nil, 1)

		r.answer = func(request *http.Request) (int, string, error) {
			_, _, _ = silent(request)
			return http.StatusOK, keySet(t, first.public), nil // too late
		}
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if _, err := r.tokens.Verify(ctx, second.sign(t, second.claims())); !errors.Is(err, abi.Unavailable) {
			t.Errorf("a cancelled request: Verify = %v; want unavailable", err)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("Verify took %v; want 1s", took)
		}
		time.Sleep(5 * time.Second) // the request to the issuer continues for other callers
		synctest.Wait()

		r.answer = silent
		time.Sleep(10 * time.Second)
		begun = time.Now()
		r.verify(t, t.Context(), "it is silent", second, abi.Unavailable, 1)
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("Verify took %v; want 5s", took)
		}
	})
}

// TestBadKeyServers fetches keys from misbehaving issuers.
func TestBadKeyServers(t *testing.T) {
	i := newIssuer(t, "EdDSA")
	good := keySet(t, i.public)
	elsewhere := newServer(t)
	elsewhere.says(http.StatusOK, good)
	for name, answer := range map[string]http.HandlerFunc{
		"a page":          func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"no usable key":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"a redirect":      func(w http.ResponseWriter, _ *http.Request) { redirect(w, elsewhere.URL, good) },
		"a closed line":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"an endless body": func(w http.ResponseWriter, _ *http.Request) { endless(w, good) },
	} {
		s := newServer(t)
		s.answers(answer)
		tokens := newTokens(t, auth.TokenOptions{KeysURL: s.URL}, nil)
		if _, err := tokens.Verify(t.Context(), i.sign(t, i.claims())); !errors.Is(err, abi.Unavailable) || strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: Verify = %v; want unavailable", name, err)
		}
	}
	if elsewhere.requested.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

// redirect sends a redirect whose body is a valid key set.
func redirect(w http.ResponseWriter, to, body string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
	_, _ = w.Write([]byte(body))
}

// endless writes a key set, followed by spaces until the client disconnects.
func endless(w http.ResponseWriter, good string) {
	_, err := w.Write([]byte(good))
	for blanks := []byte(strings.Repeat(" ", 64<<10)); err == nil; {
		_, err = w.Write(blanks)
	}
}

func FuzzKeySetFile(f *testing.F) {
	i := newIssuer(f, "ES256")
	f.Add([]byte(keySet(f, i.public)))
	f.Add([]byte(`{"keys":[{"kty":"RSA","kid":"a","n":"","e":""},{"kty":"EC","kid":"a","crv":"P-256","x":"","y":""},null,1]}`))
	path, token := filepath.Join(f.TempDir(), "jwks.json"), i.sign(f, i.claims())
	f.Fuzz(func(t *testing.T, data []byte) {
		write(t, path, string(data))
		tokens, err := auth.NewTokens(auth.TokenOptions{Issuer: "https://issuer.example", Audience: "toolrun", KeysFile: path, Now: now})
		if err != nil {
			return
		}
		if _, err := tokens.Verify(t.Context(), token); err != nil && !errors.Is(err, auth.Invalid) {
			t.Errorf("Verify = %v", err)
		}
	})
}

func BenchmarkTokensVerify(b *testing.B) {
	for _, alg := range []string{"RS256", "ES256", "EdDSA"} {
		i := newIssuer(b, alg)
		tokens, token := i.tokens(b, nil), i.sign(b, i.claims())
		b.Run(alg, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tokens.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
