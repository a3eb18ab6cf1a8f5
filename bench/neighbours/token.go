package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"os"
	"time"
)

// issuerName is the issuer of the tokens, and the constant "audience" is their audience.
const (
	issuerName = "https://id.example"
	audience   = "toolrun"
)

// issuer is a platform that issues JSON Web Tokens to its users (RFC 7519).
type issuer struct{ key ed25519.PrivateKey }

// newIssuer creates an issuer and writes its public key to a file, as a JWK Set.
func newIssuer(file string) (*issuer, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"keys": []any{map[string]string{
		"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": "1", "x": encoded(public),
	}}})
	if err != nil {
		return nil, err
	}
	return &issuer{key}, os.WriteFile(file, text, 0o600)
}

// token returns a token for a user of a tenant. The token is valid for one hour. If the argument
// "session" is not "", the token is valid only in the session with this id.
func (i *issuer) token(tenant, user, session string) string {
	now := time.Now()
	claims := map[string]any{
		"iss": issuerName, "aud": audience, "tenant": tenant, "sub": user,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	if session != "" {
		claims["session_id"] = session
	}
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err) // encoding strings and numbers never fails
	}
	signed := encoded([]byte(`{"alg":"EdDSA","kid":"1","typ":"JWT"}`)) + "." + encoded(text)
	return signed + "." + encoded(ed25519.Sign(i.key, []byte(signed)))
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
