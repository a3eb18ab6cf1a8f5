package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/memory"
)

// Links makes addresses at which files can be downloaded without credentials, until they expire: whoever has one has the
// file. It is safe for concurrent use.
type Links struct {
	key  []byte
	base string
	now  func() time.Time
}

// NewLinks returns Links with a secret key of at least 32 bytes; base is where clients reach the service, such as
// https://tools.example. Now is the clock, nil for the system's.
func NewLinks(key []byte, base string, now func() time.Time) (*Links, error) {
	if len(key) < sha256.Size {
		return nil, abi.Faultf(abi.InvalidArgument, "the key for addresses of files has %d bytes; it takes %d at least", len(key), sha256.Size)
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, abi.Faultf(abi.InvalidArgument, "%q is no address of a service", base).WithHint("such as https://tools.example")
	}
	if now == nil {
		now = time.Now
	}
	return &Links{key: key, base: strings.TrimRight(base, "/"), now: now}, nil
}

func (*Links) path() string { return "/files/" }

// link is what an address says.
type link struct {
	tenant, app, file string
	name, mediaType   string
	expires           int64 // in seconds since 1970
}

// Make returns the address of a file.
func (l *Links) Make(app, tenant string, a memory.Artifact) string {
	at := link{tenant, app, a.ID, a.Filename, a.MediaType, a.Expires.Unix()}
	query := url.Values{
		"name": {at.name}, "type": {at.mediaType}, "expires": {strconv.FormatInt(at.expires, 10)}, "signature": {l.sign(at)},
	}
	return l.base + l.path() + url.PathEscape(tenant) + "/" + url.PathEscape(app) + "/" + url.PathEscape(a.ID) + "?" + query.Encode()
}

// sign returns the signature of an address: HMAC-SHA-256 (RFC 2104) over its parts, each with its length.
func (l *Links) sign(at link) string {
	mac := hmac.New(sha256.New, l.key)
	for _, part := range []string{at.tenant, at.app, at.file, at.name, at.mediaType, strconv.FormatInt(at.expires, 10)} {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// check reads the address of a request. One that was not made here and one that has expired are not found, and do not
// say which: whether there is such a file is nobody's business.
func (l *Links) check(r *http.Request) (link, error) {
	query := r.URL.Query()
	at := link{tenant: r.PathValue("tenant"), app: r.PathValue("app"), file: r.PathValue("file"), name: query.Get("name"), mediaType: query.Get("type")}
	expires, err := strconv.ParseInt(query.Get("expires"), 10, 64)
	at.expires = expires
	if err != nil || !hmac.Equal([]byte(l.sign(at)), []byte(query.Get("signature"))) || l.now().Unix() >= expires {
		return at, abi.Faultf(abi.NotFound, "there is no file at this address, or its time is over")
	}
	return at, nil
}
