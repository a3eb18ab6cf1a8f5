package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolrun/toolrun/sdk/client"
)

// TestInvalidCertificateDoesNotReplace checks that a valid certificate stays in use if the new
// certificate has expired or is not yet valid. If the certificate in use is invalid, any new
// certificate must replace it.
func TestInvalidCertificateDoesNotReplace(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	var log bytes.Buffer
	env := Env{Dir: dir, Now: func() time.Time { return now }}.withDefaults()
	writeCertificate(t, dir, "good.example")
	c, err := openCertificate(env, &serveFlags{tlsCert: "cert.pem", tlsKey: "key.pem"}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	want := func(name string) {
		t.Helper()
		got, err := c.get(&tls.ClientHelloInfo{})
		if err != nil || got.Leaf.Subject.CommonName != name {
			t.Fatalf("the certificate is that of %v, %v; want %s", got.Leaf.Subject, err, name)
		}
	}
	good := c.expires()
	for _, bad := range []struct {
		name, why   string
		from, until time.Duration
	}{
		{"late.example", "the certificate expired at", -2 * time.Hour, -time.Hour}, {"early.example", "the certificate is not valid before", 3 * time.Hour, 4 * time.Hour},
	} {
		log.Reset()
		writeCertificateFor(t, dir, bad.name, now.Add(bad.from), now.Add(bad.until))
		for range 3 {
			c.reload()
			want("good.example")
		}
		if text := log.String(); strings.Count(text, "level=ERROR") != 1 || !strings.Contains(text, bad.why) {
			t.Errorf("%s: the log is %q; want one ERROR with the reason: %s", bad.name, text, bad.why)
		}
	}
	if got := c.expires(); !got.Equal(good) {
		t.Errorf("the certificate in use expires at %v; want %v", got, good)
	}
	now = now.Add(2 * time.Hour) // the certificate has expired now
	want("early.example")
	if got := c.expires(); got.Equal(good) || got.Before(now) {
		t.Errorf("the certificate in use expires at %v; want the expiry time of the new one", got)
	}
}

// TestExpiredCertificateAtStart checks that a service with an expired certificate starts and logs a
// warning.
func TestExpiredCertificateAtStart(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	var log bytes.Buffer
	env := Env{Dir: dir, Now: func() time.Time { return now }}.withDefaults()
	writeCertificateFor(t, dir, "late.example", now.Add(-2*time.Hour), now.Add(-time.Hour))
	if _, err := openCertificate(env, &serveFlags{tlsCert: "cert.pem", tlsKey: "key.pem"}, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "expired") {
		t.Errorf("the log is %q; want a WARN that it expired", text)
	}
}

// TestHintForExpiredCertificate checks the hint of an error. The hint must mention the expired
// certificate, not a stopped server.
func TestHintForExpiredCertificate(t *testing.T) {
	dir := t.TempDir()
	writeCertificateFor(t, dir, "127.0.0.1", time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	c, err := client.New(client.Options{URL: server.URL, Key: "k", HTTPClient: web})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Usage().List(t.Context(), client.UsageQuery{})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != 0 {
		t.Fatalf("the error is %v; want a connection error", err)
	}
	if f := faultOf(explainServer(err)); !strings.Contains(f.Hint, "expired") || strings.Contains(f.Hint, "running") {
		t.Errorf("the hint is %q; want that the certificate expired", f.Hint)
	}
}
