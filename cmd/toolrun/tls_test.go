package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// writeCertificate writes a self-signed certificate for this machine, and the private key of the
// certificate.
func writeCertificate(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{
		"cert.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})),
		"key.pem":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
}

// TestCertificates runs a service that has a self-signed certificate. While the service runs, the
// test replaces the certificate.
func TestCertificates(t *testing.T) {
	binary, dir := buildToolrun(t), t.TempDir()
	writeFiles(t, dir, countApp)
	writeCertificate(t, dir, "one")
	keys, secret := makeKeys(t, binary, dir)
	s := startServe(t, binary, filepath.Join(dir, "app.yaml"), "--keys", keys, "--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"))
	run := func(args ...string) (string, error) {
		cmd := exec.Command(binary, append([]string{"run", "count", "--user", "ann", "--server", s.url}, args...)...)
		cmd.Env = append(os.Environ(), "TOOLRUN_KEY="+secret)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err == nil || !strings.Contains(out, "--ca FILE") {
		t.Errorf("a run with a certificate of an unknown authority = %v, %s; want a hint about --ca", err, out)
	}
	if out, err := run("--ca", filepath.Join(dir, "cert.pem")); err != nil || strings.TrimSpace(out) != "1" {
		t.Errorf("a run with --ca = %v, %s; want 1", err, out)
	}
	if out, err := run("--ca", filepath.Join(dir, "app.yaml")); err == nil || !strings.Contains(out, "no PEM certificate") {
		t.Errorf("a run with --ca and another file = %v, %s; want that it contains no PEM certificate", err, out)
	}
	served := func() string {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := served(); got != "one" {
		t.Fatalf("the certificate is for %s; want one", got)
	}
	writeCertificate(t, dir, "two")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Skip("this system has no SIGHUP: ", err)
	}
	for deadline := time.Now().Add(20 * time.Second); served() != "two"; {
		if time.Now().After(deadline) {
			t.Fatalf("the certificate is for %s; want two", served())
		}
	}
	writeFiles(t, dir, map[string]string{"cert.pem": "broken"})
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := served(); got != "two" {
		t.Errorf("after a broken certificate, the one in use is for %s; want two", got)
	}
}
