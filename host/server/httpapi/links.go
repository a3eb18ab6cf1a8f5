package httpapi

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/artifact"
)

// Links creates signed download URLs for files. A URL works without credentials until it expires,
// so anyone with the URL can download its file. Tools can see these URLs. Therefore, a URL is
// opaque and reveals no tenant, app or user. Links is safe for concurrent use.
type Links struct {
	sealing cipher.AEAD
	nonces  []byte // key for deriving nonces
	base    string
	now     func() time.Time
}

// linkKeyBytes is the minimum size of the secret key.
const linkKeyBytes = 32

// NewLinks returns Links that use a secret key of at least 32 bytes. The argument base is the
// public URL of the service, such as "https://tools.example". The argument "now" is the clock. If
// the argument "now" is nil, the system clock is used.
func NewLinks(key []byte, base string, now func() time.Time) (*Links, error) {
	if len(key) < linkKeyBytes {
		return nil, abi.Faultf(abi.InvalidArgument, "the signing key for file URLs has %d bytes; expected at least %d", len(key), linkKeyBytes)
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, abi.Faultf(abi.InvalidArgument, "%q is not the URL of a service", base).WithHint("use a URL such as https://tools.example")
	}
	l := &Links{base: strings.TrimRight(base, "/"), now: now}
	if l.now == nil {
		l.now = time.Now
	}
	return l, l.deriveKeys(key)
}

// deriveKeys derives two keys from the secret (RFC 5869): one for encryption and one for nonces.
func (l *Links) deriveKeys(secret []byte) error {
	sealing, err := hkdf.Key(sha256.New, secret, nil, "toolrun links: seal", 32)
	if err != nil {
		return err
	}
	if l.nonces, err = hkdf.Key(sha256.New, secret, nil, "toolrun links: nonce", 32); err != nil {
		return err
	}
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return err
	}
	l.sealing, err = cipher.NewGCM(block)
	return err
}

func (*Links) path() string { return "/files/" }

// link is the content of a signed URL.
type link struct {
	tenant, app, file string
	name, mediaType   string
	expires           int64 // Unix time in seconds
}

// maxLink is the maximum length of an encoded link in a URL. A link contains five names, each of
// which has up to a few hundred bytes.
const maxLink = 4096

// Make returns the URL of a file. The URL is deterministic, so a repeated run of a tool receives
// the same URL.
func (l *Links) Make(app, tenant string, a artifact.Artifact) string {
	at := link{tenant, app, a.ID, a.Filename, a.MediaType, a.Expires.Unix()}
	return l.base + l.path() + base64.RawURLEncoding.EncodeToString(l.seal(at))
}

// seal encrypts and authenticates a link with AES-256-GCM. The nonce is a MAC of the plaintext:
// equal links get equal nonces, and different links get different nonces.
func (l *Links) seal(at link) []byte {
	plain := at.encode()
	mac := hmac.New(sha256.New, l.nonces)
	mac.Write(plain)
	nonce := mac.Sum(nil)[:l.sealing.NonceSize()]
	return l.sealing.Seal(nonce, nonce, plain, nil)
}

// encode serializes a link. The result contains the expiry, followed by the length and the bytes of
// each text.
func (at link) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(at.expires))
	for _, text := range at.texts() {
		b = binary.AppendUvarint(b, uint64(len(*text)))
		b = append(b, *text...)
	}
	return b
}

func (at *link) texts() []*string {
	return []*string{&at.tenant, &at.app, &at.file, &at.name, &at.mediaType}
}

// decode parses the output of the function "encode". The result "ok" is true if the output is
// valid.
func (at *link) decode(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	at.expires, b = int64(binary.BigEndian.Uint64(b)), b[8:]
	for _, text := range at.texts() {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return false
		}
		*text, b = string(b[n:n+int(size)]), b[n+int(size):]
	}
	return len(b) == 0
}

// check returns the link of a request. If the link is forged or has expired, the error is "not
// found", so that the response does not reveal whether the file exists.
func (l *Links) check(r *http.Request) (link, error) {
	at, ok := l.open(r.PathValue("link"))
	if !ok || r.URL.RawQuery != "" || l.now().Unix() >= at.expires {
		return link{}, abi.Faultf(abi.NotFound, "the file does not exist, or its URL has expired")
	}
	return at, nil
}

// open decrypts an encoded link and reports whether the link is authentic.
func (l *Links) open(text string) (at link, ok bool) {
	if len(text) > maxLink {
		return at, false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	size := l.sealing.NonceSize()
	if err != nil || len(sealed) < size {
		return at, false
	}
	plain, err := l.sealing.Open(nil, sealed[:size], sealed[size:], nil)
	return at, err == nil && at.decode(plain)
}
