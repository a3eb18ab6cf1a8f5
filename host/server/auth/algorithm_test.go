package auth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolrun/toolrun/host/server/auth"
)

// A key for one algorithm does not verify signatures of another algorithm, even if a key for the
// other algorithm has the same id.
func TestKeysAreForOneAlgorithm(t *testing.T) {
	i := newIssuer(t, "RS256")
	as := func(alg string) string {
		other := *i
		other.alg = jose.SignatureAlgorithm(alg)
		return other.sign(t, i.claims())
	}
	named, second := i.public, newIssuer(t, "PS256").public
	named.Algorithm, second.Algorithm = "RS256", "PS256"
	for _, tt := range []struct {
		name string
		set  string
		alg  string
		good bool
	}{
		{"its own", keySet(t, named), "RS256", true},
		{"another", keySet(t, named), "PS256", false},
		{"another of the same kind", keySet(t, named), "RS512", false},
		{"any, where the key names none", keySet(t, i.public), "PS256", true},
		{"its own, next to a key with its id", keySet(t, second, named), "RS256", true},
		{"that of a key with its id", keySet(t, second, named), "PS256", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(tt.set)) }))
			defer served.Close()
			path := filepath.Join(t.TempDir(), "jwks.json")
			write(t, path, tt.set)
			file := i.tokens(t, func(o *auth.TokenOptions) { o.KeysFile = path })
			url := i.tokens(t, func(o *auth.TokenOptions) { o.KeysFile, o.KeysURL = "", served.URL })
			for place, tokens := range map[string]*auth.Tokens{"a file": file, "a URL": url} {
				_, err := tokens.Verify(t.Context(), as(tt.alg))
				if tt.good && err != nil || !tt.good && !errors.Is(err, auth.Invalid) {
					t.Errorf("with keys in %s: %v; want a valid token: %t", place, err, tt.good)
				}
			}
		})
	}
}
