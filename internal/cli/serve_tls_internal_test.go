package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a self-signed certificate for a name, and the key of the certificate. The
// written certificate is valid at the current time.
func writeCertificate(t *testing.T, dir, name string) {
	t.Helper()
	writeCertificateFor(t, dir, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

// writeCertificateFor writes a certificate that is valid between two times.
func writeCertificateFor(t *testing.T, dir, name string, from, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
		DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificateIsReadAgain first renews a certificate and then damages it.
func TestCertificateIsReadAgain(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	var log bytes.Buffer
	env := Env{Dir: dir, Now: func() time.Time { return now }}.withDefaults()
	f := &serveFlags{tlsCert: "cert.pem", tlsKey: "key.pem"}
	logger := slog.New(slog.NewTextHandler(&log, nil))
	if _, err := openCertificate(env, f, logger); err == nil {
		t.Error("openCertificate without the certificate file = nil; want an error")
	}
	writeCertificate(t, dir, "one.example")
	c, err := openCertificate(env, f, logger)
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
	want("one.example")
	writeCertificate(t, dir, "two.example")
	want("one.example") // the files were checked a moment ago, so the files are not read
	now = now.Add(certificateEvery)
	want("two.example")
	if err := os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("not a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the same error is logged only once
		now = now.Add(certificateEvery)
		want("two.example")
	}
	if n := strings.Count(log.String(), "cannot use the new certificate"); n != 1 {
		t.Errorf("a broken certificate is logged %d times; want once:\n%s", n, log.String())
	}
	writeCertificate(t, dir, "three.example")
	c.reload() // as SIGHUP does
	want("three.example")
	if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	c.reload()
	now = now.Add(time.Hour)
	want("three.example")
	if n := strings.Count(log.String(), "was reloaded"); n != 2 {
		t.Errorf("new certificates are logged %d times; want 2:\n%s", n, log.String())
	}
}

// TestTenantsOfMetrics parses --metrics-tenants.
func TestTenantsOfMetrics(t *testing.T) {
	for text, want := range map[string]struct {
		ids   string
		first int
		bad   bool
	}{
		"0": {}, "20": {first: 20}, "acme, globex": {ids: "acme globex"}, "7,": {ids: "7"}, "-1": {bad: true}, "1001": {bad: true},
	} {
		ids, first, err := (&serveFlags{metricsTenants: text}).tenantsOfMetrics()
		if strings.Join(ids, " ") != want.ids || first != want.first || (err != nil) != want.bad {
			t.Errorf("--metrics-tenants %q = %q, %d, %v; want %+v", text, ids, first, err, want)
		}
	}
}
