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

// certificateEvery is the interval at which the files of the certificate are checked for changes.
const certificateEvery = time.Second

// certificate is the certificate of a service. It is reloaded when its files change, so that a renewal needs no restart. While
// a new certificate cannot be read or is not valid at this time, the last good one stays in use. It is safe for concurrent use.
type certificate struct {
	certFile, keyFile string
	now               func() time.Time
	log               *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	files  [2]fs.FileInfo // at the last read, also if it failed
	looked time.Time
	failed string // the last logged error
	// pending is true while the files contain a certificate that is not used because of its dates.
	pending bool
}

// openCertificate reads the certificate. It returns nil for a service without TLS.
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
		logger.Warn("the certificate is not valid: clients will reject it", "cert", c.certFile, "error", err)
	}
	return c, nil
}

// get returns the newest certificate that is usable.
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

// reload reads the certificate even if its files look unchanged. It does nothing without TLS.
func (c *certificate) reload() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(c.stat())
}

// read reads the certificate from files with the given infos. The caller holds mu.
func (c *certificate) read(files [2]fs.FileInfo) {
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	c.pending = false
	if err == nil && datesOf(c.loaded, c.now()) == nil {
		err = datesOf(&loaded, c.now())
		c.pending = err != nil // check again later: the new one may become valid, or the current one expire
	}
	if err != nil { // this may be a half-done replacement: the change of the other file triggers the next read
		if c.failed != err.Error() {
			c.log.Error("cannot use the new certificate: the previous one stays in use", "cert", c.certFile, "key", c.keyFile, "error", err)
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

// expires returns when the certificate in use expires.
func (c *certificate) expires() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded.Leaf.NotAfter
}

// datesOf returns an error for a certificate that is not valid at a time.
func datesOf(cert *tls.Certificate, now time.Time) error {
	switch leaf := cert.Leaf; {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("it expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("it is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// stat returns the infos of the two files, nil for a missing one.
func (c *certificate) stat() (files [2]fs.FileInfo) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			files[i] = info
		}
	}
	return files
}

// certificateSettled is the age at which a file's modification time reliably shows the next change, because file systems have
// coarse clocks.
const certificateSettled = 2 * time.Second

// changed reports whether files may have changed.
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
