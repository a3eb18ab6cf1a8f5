package auth_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/server/auth"
)

// TestRejectedTokensAreLogged checks that each rejection reason is logged at a limited rate and
// that the token is not logged.
func TestRejectedTokensAreLogged(t *testing.T) {
	i, forger := newIssuer(t, "ES256"), newIssuer(t, "ES256")
	var text bytes.Buffer
	at := start
	tokens := i.tokens(t, func(o *auth.TokenOptions) {
		o.Logger, o.Now = slog.New(slog.NewJSONHandler(&text, nil)), func() time.Time { return at }
	})
	claims := func(change func(map[string]any)) map[string]any {
		c := i.claims()
		change(c)
		return c
	}
	nameless := *i
	nameless.kid = ""
	unknown := *i
	unknown.kid = "unheard-of"
	for _, tt := range []struct{ name, token, reason string }{
		{"a forged one", forger.sign(t, i.claims()), "the signature does not match the issuer's key"},
		{"an unknown key", unknown.sign(t, i.claims()), "the JWK Set has no key with the key id (kid) of the token"},
		{"no token", "a.b.c", "the token is not a JWT signed"},
		{"no kid", nameless.sign(t, i.claims()), "the token header has no key id (kid)"},
		{"no exp", i.sign(t, claims(func(c map[string]any) { delete(c, "exp") })), "the claim exp is missing"},
		{"an expired one", i.sign(t, claims(func(c map[string]any) { c["exp"] = start.Add(-time.Hour).Unix() })), "the token has expired"},
		{"another audience", i.sign(t, claims(func(c map[string]any) { c["aud"] = "other" })), "from another issuer, for another audience"},
		{"no tenant", i.sign(t, claims(func(c map[string]any) { delete(c, "tenant") })), "the tenant claim is missing: tenant"},
	} {
		text.Reset()
		for range 100 {
			if _, err := tokens.Verify(t.Context(), tt.token); err == nil {
				t.Fatalf("%s: Verify = nil; want an error", tt.name)
			}
		}
		var line struct{ Msg, Reason string }
		if err := json.Unmarshal(text.Bytes(), &line); err != nil || line.Msg != "a token was rejected" || !strings.Contains(line.Reason, tt.reason) {
			t.Errorf("%s, 100 times: the log is %s, %v; want one line: %s", tt.name, text.String(), err, tt.reason)
		}
		if strings.Contains(text.String(), tt.token) || strings.Contains(text.String(), "ann") {
			t.Errorf("%s: the log has the token or its user: %s", tt.name, text.String())
		}
	}
	text.Reset()
	at = at.Add(time.Minute)
	_, _ = tokens.Verify(t.Context(), "a.b.c")
	if !strings.Contains(text.String(), `"more":99`) {
		t.Errorf("a minute later: %s; want the count of rejections that were not logged", text.String())
	}
}
