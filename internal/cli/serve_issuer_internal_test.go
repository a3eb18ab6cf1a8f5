package cli

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestUnreachableIssuerAtStart checks that an unreachable issuer causes one warning, and that a
// reachable issuer causes no warning.
func TestUnreachableIssuerAtStart(t *testing.T) {
	const set = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(set)) }))
	defer there.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for url, want := range map[string]int{there.URL: 0, gone.URL: 1} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		b := newBase(Env{Dir: t.TempDir()})
		f := &serveFlags{accessFlags: accessFlags{issuer: "https://id.example", audience: "toolrun", jwks: url}}
		auth, err := f.accessFlags.open(b.env, "", logger)
		if err != nil {
			t.Fatal(err)
		}
		(&server{baseCommand: b, flags: f, logger: logger, auth: auth}).probeIssuer(t.Context())
		if n := strings.Count(log.String(), "level=WARN"); n != want || n != strings.Count(log.String(), "level=") {
			t.Errorf("the log is %q; want %d WARN", log.String(), want)
		}
	}
}
