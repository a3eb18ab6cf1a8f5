package cli

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// certificateEvery is the time between two checks of the certificate files for changes.
const certificateEvery = time.Second

// certificate is the TLS certificate of a service. If the certificate files change, the certificate
// is reloaded. A renewal therefore does not require a restart of the service. If the new
// certificate cannot be read, the previous certificate stays in use. A valid certificate also stays
// in use if the new certificate has expired or is not yet valid. certificate is safe for concurrent
// use.
type certificate struct {
	certFile, keyFile string
	now               func() time.Time
	log               *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	files  [2]fs.FileInfo // the metadata of the files at the last read, even if the read failed
	looked time.Time
	failed string // the last logged error
	// pending is true if the files contain a certificate that has expired or is not yet valid.
	pending bool
}

// openCertificate reads the certificate. If the service does not use TLS, openCertificate returns
// nil.
func openCertificate(env Env, f *serveFlags, logger *slog.Logger) (*certificate, error) {
	if f.tlsCert == "" {
		return nil, nil
	}
	c := &certificate{certFile: env.path(f.tlsCert), keyFile: env.path(f.tlsKey), now: env.Now, log: logger}
	c.looked, c.files = c.now(), c.stat()
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, usagef("", "cannot use the certificate of --tls-cert and --tls-key: %v", err)
	}
	c.loaded = &loaded
	if err := datesOf(c.loaded, c.looked); err != nil {
		logger.Warn("the certificate is invalid and will be rejected by clients", "cert", c.certFile, "error", err)
	}
	return c, nil
}

// get returns the certificate in use. If necessary, the method first reads the files.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked).Abs() >= certificateEvery {
		c.looked = now
		if files := c.stat(); c.pending || changed(c.files, files, now) {
			c.read(files)
		}
	}
	return c.loaded, nil
}

// reload reads the certificate even if the files seem to be unchanged. If c is nil, the method does
// nothing.
func (c *certificate) reload() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(c.stat())
}

// read reads the certificate files and updates c. The argument "files" is the metadata of the
// certificate files. The caller holds mu.
func (c *certificate) read(files [2]fs.FileInfo) {
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	c.pending = false
	if err == nil && datesOf(c.loaded, c.now()) == nil {
		err = datesOf(&loaded, c.now())
		c.pending = err != nil // check again later, because a certificate may become valid or expire
	}
	if err != nil { // perhaps only one of the two files has been replaced so far
		if c.failed != err.Error() {
			c.log.Error("cannot use the new certificate: the previous certificate stays in use", "cert", c.certFile, "key", c.keyFile, "error", err)
		}
		c.failed, c.files = err.Error(), files
		return
	}
	same := slices.EqualFunc(loaded.Certificate, c.loaded.Certificate, bytes.Equal)
	c.loaded, c.files, c.failed = &loaded, files, ""
	if same {
		return
	}
	c.log.Info("the certificate was reloaded", "cert", c.certFile, "until", loaded.Leaf.NotAfter)
}

// expires returns the time at which the certificate in use expires.
func (c *certificate) expires() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded.Leaf.NotAfter
}

// datesOf returns an error if the certificate is not valid at the given time.
func datesOf(cert *tls.Certificate, now time.Time) error {
	switch leaf := cert.Leaf; {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// stat returns the metadata of the two certificate files. If a certificate file is missing, its
// metadata is nil.
func (c *certificate) stat() (files [2]fs.FileInfo) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			files[i] = info
		}
	}
	return files
}

// certificateSettled is the minimum age of a reliable modification time. The clocks of file systems
// are coarse, so a file that has just changed could change again without a new modification time.
const certificateSettled = 2 * time.Second

// changed reports whether one of the certificate files may have changed.
func changed(before, now [2]fs.FileInfo, at time.Time) bool {
	for i := range now {
		a, b := before[i], now[i]
		if b != nil && at.Sub(b.ModTime()) < certificateSettled {
			return true
		}
		if (a == nil) != (b == nil) {
			return true
		}
		if a != nil && (!os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime())) {
			return true
		}
	}
	return false
}
