package auth

import (
	"net/http"
	"strings"
	"time"
)

// Authenticator finds out who sent a request. The zero value refuses everybody. It is safe for concurrent use.
type Authenticator struct {
	// Keys and Tokens are the credentials it takes; nil is none of that kind.
	Keys   *Keys
	Tokens *Tokens
	// Now is the clock for keys. Default: the system's.
	Now func() time.Time
}

// Authenticate returns who sent a request: by "Authorization: Bearer" with a key or a token (RFC 6750, section 2.1), or
// by "X-API-Key" with a key. Credentials elsewhere, as in the query, are none: addresses end up in logs. The error is a
// Refusal, or abi.Unavailable where the keys of the issuer cannot be had. It never holds what the request did.
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

// credential is what a request shows. key is true where it can only be an API key.
type credential struct {
	text string
	key  bool
}

// maxCredential bounds credentials in bytes. Tokens of real issuers have some thousand.
const maxCredential = 16 << 10

// credentialOf finds the credentials among the headers.
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
	if !strings.EqualFold(scheme, "Bearer") { // RFC 9110, section 11.1: in any case
		return credential{}, NoCredentials
	}
	return checked(credential{strings.TrimLeft(text, " "), false})
}

// checked refuses what is too long to look at. What keys and tokens consist of is for who verifies them; neither holds a
// comma, with which something on the way may have joined two.
func checked(c credential) (credential, error) {
	if c.text == "" || len(c.text) > maxCredential {
		return credential{}, Invalid
	}
	return c, nil
}
