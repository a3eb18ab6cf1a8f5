package auth

import (
	"net/http"
	"strings"
	"time"
)

// Authenticator authenticates the sender of a request. The zero value rejects every request.
// Authenticator is safe for concurrent use.
type Authenticator struct {
	// Keys and Tokens verify the two kinds of credentials. Nil disables a kind.
	Keys   *Keys
	Tokens *Tokens
	// Now is the clock for keys. Default: the system clock.
	Now func() time.Time
}

// Authenticate returns the sender of a request. Authenticate accepts "Authorization: Bearer" with a
// key or a token (RFC 6750, section 2.1) and "X-API-Key" with a key. Authenticate ignores
// credentials in all other places, such as the query of the URL, because URLs are logged. The error
// is an AuthError, or abi.Unavailable if the issuer's keys cannot be fetched. The error does not
// contain data of the request.
func (a *Authenticator) Authenticate(r *http.Request) (Principal, error) {
	c, err := credentialOf(r.Header)
	if err != nil {
		return Principal{}, err
	}
	switch {
	case (c.key || strings.HasPrefix(c.text, secretPrefix)) && a.Keys != nil:
		return a.Keys.Verify(c.text, a.now())
	case !c.key && a.Tokens != nil:
		return a.Tokens.Verify(r.Context(), c.text)
	}
	return Principal{}, Invalid
}

func (a *Authenticator) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}

// credential is the API key or the token of a request. The field "key" is true if the request
// contained the text in a header that only API keys use.
type credential struct {
	text string
	key  bool
}

// maxCredential is the maximum size of a credential in bytes. In practice, tokens have up to a few
// thousand bytes.
const maxCredential = 16 << 10

// credentialOf returns the credential in the request headers.
func credentialOf(h http.Header) (credential, error) {
	bearer, key := h.Values("Authorization"), h.Values("X-API-Key")
	switch {
	case len(bearer)+len(key) > 1:
		return credential{}, Ambiguous
	case len(key) == 1:
		return checked(credential{key[0], true})
	case len(bearer) == 0:
		return credential{}, NoCredentials
	}
	scheme, text, _ := strings.Cut(bearer[0], " ")
	if !strings.EqualFold(scheme, "Bearer") { // case-insensitive (RFC 9110, section 11.1)
		return credential{}, NoCredentials
	}
	return checked(credential{strings.TrimLeft(text, " "), false})
}

// checked rejects an empty or overlong credential. The verifiers check the syntax. If a proxy has
// joined two headers with a comma, the verifiers reject the result, because keys and tokens contain
// no commas.
func checked(c credential) (credential, error) {
	if c.text == "" || len(c.text) > maxCredential {
		return credential{}, Invalid
	}
	return c, nil
}
