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

// certificateEvery bounds how often the files of the certificate are looked at: a new one is used that much later at
// most.
const certificateEvery = time.Second

// certificate is the certificate of a service, which is read again if its files change: who renews one need not restart
// the service. While a new one cannot be read, or is not valid at this time, the last good one is used. It is safe for
// concurrent use.
type certificate struct {
	certFile, keyFile string
	now               func() time.Time
	log               *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	files  [2]fs.FileInfo // that it was read from, or could not be read from
	looked time.Time
	failed string // what was logged last
	// pending is true while the files have a certificate that is not used because of its dates.
	pending bool
}

// openCertificate reads the certificate, nil for a service without TLS.
func openCertificate(env Env, f *serveFlags, logger *slog.Logger) (*certificate, error) {
	if f.tlsCert == "" {
		return nil, nil
	}
	c := &certificate{certFile: env.path(f.tlsCert), keyFile: env.path(f.tlsKey), now: env.Now, log: logger}
	c.looked, c.files = c.now(), c.stat()
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, usagef("", "the certificate of --tls-cert and --tls-key cannot be used: %v", err)
	}
	c.loaded = &loaded
	if err := datesOf(c.loaded, c.looked); err != nil {
		logger.Warn("the certificate is not valid: clients will refuse it", "cert", c.certFile, "error", err)
	}
	return c, nil
}

// get returns the newest certificate that can be used.
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

// reload reads the certificate whatever is known of its files. It does nothing without TLS.
func (c *certificate) reload() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read(c.stat())
}

// read reads the certificate from files that were seen before. The caller holds mu.
func (c *certificate) read(files [2]fs.FileInfo) {
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	c.pending = false
	if err == nil && datesOf(c.loaded, c.now()) == nil {
		err = datesOf(&loaded, c.now())
		c.pending = err != nil // it is looked at again: one of the two dates comes
	}
	if err != nil { // also if only one of the two files was replaced so far: the next change is seen again
		if c.failed != err.Error() {
			c.log.Error("the new certificate cannot be used: the one before stays in use", "cert", c.certFile, "key", c.keyFile, "error", err)
		}
		c.failed, c.files = err.Error(), files
		return
	}
	same := slices.EqualFunc(loaded.Certificate, c.loaded.Certificate, bytes.Equal)
	c.loaded, c.files, c.failed = &loaded, files, ""
	if same {
		return
	}
	c.log.Info("the certificate was read again", "cert", c.certFile, "until", loaded.Leaf.NotAfter)
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

// stat returns what the two files are, nil for one that is not there.
func (c *certificate) stat() (files [2]fs.FileInfo) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			files[i] = info
		}
	}
	return files
}

// certificateSettled is how old the last change of a file must be for its time to show the next one: the clocks of file
// systems are coarse.
const certificateSettled = 2 * time.Second

// changed reports whether files may be others than they were.
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
