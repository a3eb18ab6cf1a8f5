package auth

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/toolrun/toolrun/abi"
)

// keySource verifies signatures with the keys of an issuer.
type keySource interface {
	// verify checks that the key with the given id and algorithm has signed a token. verify returns
	// the payload of the token. The error is Invalid, abi.Unavailable or, if the issuer has no key
	// with the given id, errUnknownKey.
	verify(ctx context.Context, token string, by signer, now time.Time) ([]byte, error)
}

// errUnknownKey reports that an issuer has no key with the requested id.
var errUnknownKey = errors.New("the issuer has no key with the key id (kid) of the token")

// signer contains the key id and the algorithm from the header of a token.
type signer struct{ kid, alg string }

// matches reports whether the given key could have created the signature. A JWK that contains an
// algorithm verifies only signatures of that algorithm (RFC 8725, section 3.1).
func (by signer) matches(key jose.JSONWebKey) bool {
	return key.KeyID == by.kid && (key.Algorithm == "" || key.Algorithm == by.alg)
}

// keysOf returns the keys that could have created the signature.
func (by signer) keysOf(keys []jose.JSONWebKey) *oidc.StaticKeySet {
	set := &oidc.StaticKeySet{}
	for _, key := range keys {
		if by.matches(key) {
			set.PublicKeys = append(set.PublicKeys, key.Key)
		}
	}
	return set
}

// rejection returns the error for a token if no key verifies its signature.
func (by signer) rejection(keys []jose.JSONWebKey) error {
	if slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool { return key.KeyID == by.kid }) {
		return Invalid
	}
	return errUnknownKey
}

// usableKeys returns the keys in a JWK Set (RFC 7517) that can verify tokens. usableKeys ignores
// encryption keys and unknown kinds of keys, as section 5 of RFC 7517 requires.
func usableKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("the document is not a JWK Set")
	}
	var keys []jose.JSONWebKey
	for _, text := range set.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(text, &key); err == nil && usable(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the JWK Set has no public signature key with a key id (kid)")
	}
	return keys, nil
}

func usable(key jose.JSONWebKey) bool {
	if k, ok := key.Key.(*rsa.PublicKey); ok && k.N.BitLen() < 2048 { // RFC 7518, section 3.3
		return false
	}
	return key.KeyID != "" && key.IsPublic() && key.Valid() && (key.Use == "" || key.Use == "sig") &&
		(key.Algorithm == "" || slices.Contains(algorithms, jose.SignatureAlgorithm(key.Algorithm)))
}

// fileKeys contains the keys of an issuer. The keys are stored in a file. The file is reloaded when
// it changes.
type fileKeys struct {
	file *watchedFile[[]jose.JSONWebKey]
	log  *slog.Logger
}

func openFileKeys(path string, log *slog.Logger) (*fileKeys, error) {
	// All users of the machine may have read access, because the keys are public. A user with write
	// access could forge tokens.
	s := &fileKeys{&watchedFile[[]jose.JSONWebKey]{path: path, forbidden: 0o002, decode: usableKeys}, log}
	var err error
	if s.file.value, s.file.info, err = s.file.read(); err != nil {
		return nil, fmt.Errorf("read issuer keys: %w", err)
	}
	return s, nil
}

func (s *fileKeys) verify(ctx context.Context, token string, by signer, now time.Time) ([]byte, error) {
	keys := s.file.get(now, s.log)
	payload, err := by.keysOf(keys).VerifySignature(ctx, token)
	if err != nil {
		return nil, by.rejection(keys)
	}
	return payload, nil
}

const (
	// refreshEvery is the maximum time for which a revoked key remains in use.
	refreshEvery = 15 * time.Minute
	// maxStale is the time for which the last known keys remain in use if the issuer does not
	// respond.
	maxStale = 24 * time.Hour
	// fetchEvery is the minimum interval between requests to the issuer after a success, and
	// retryEvery is the minimum interval after a failure. Clients cannot shorten these intervals by
	// sending tokens with unknown key ids.
	fetchEvery = 10 * time.Second
	retryEvery = time.Second
	// fetchTimeout and maxAnswerBytes limit the duration and the size of each response from the
	// issuer.
	fetchTimeout   = 5 * time.Second
	maxAnswerBytes = 1 << 20
)

// remoteKeys contains the keys of an issuer. The keys are fetched from a URL. The key set of
// go-oidc fetches keys if a token contains an unknown key id. The key set of go-oidc never removes
// a key, so remoteKeys periodically replaces the whole key set.
type remoteKeys struct {
	url     string
	fetcher *fetcher

	mu   sync.Mutex
	set  *oidc.RemoteKeySet
	made time.Time
}

func (s *remoteKeys) verify(ctx context.Context, token string, by signer, now time.Time) ([]byte, error) {
	payload, err := s.current(now).VerifySignature(ctx, token)
	if err == nil {
		return payload, s.checkAlgorithm(ctx, token, by)
	}
	// If the issuer does not respond, the server does not know whether the token is valid.
	last := s.fetcher.last.Load()
	if ctx.Err() != nil || last == nil || last.err != nil {
		return nil, abi.Faultf(abi.Unavailable, "cannot fetch the issuer's signing keys (JWKS)").WithHint("retry in a moment")
	}
	return nil, by.rejection(last.keys)
}

// checkAlgorithm rejects a token if the algorithm of the token is not the algorithm of the issuer's
// key. The key set of go-oidc does not check the algorithm. If several keys have the same id, a key
// for the algorithm of the token must verify the token.
func (s *remoteKeys) checkAlgorithm(ctx context.Context, token string, by signer) error {
	last := s.fetcher.last.Load()
	if last == nil {
		return nil // unreachable, because the key set fetches its keys through the fetcher
	}
	for _, key := range last.keys {
		if key.KeyID == by.kid && !by.matches(key) {
			if _, err := by.keysOf(last.keys).VerifySignature(ctx, token); err != nil {
				return Invalid
			}
		}
	}
	return nil
}

func (s *remoteKeys) current(now time.Time) *oidc.RemoteKeySet {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.made); s.set == nil || age < 0 || age >= refreshEvery {
		client := &http.Client{Transport: s.fetcher, Timeout: fetchTimeout}
		s.set, s.made = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), client), s.url), now
	}
	return s.set
}

// fetcher is the HTTP transport between the key set and the issuer. fetcher limits the size of
// responses and removes unusable keys. fetcher repeats the last response if the issuer does not
// respond or was queried recently.
type fetcher struct {
	next http.RoundTripper
	now  func() time.Time
	log  *slog.Logger

	mu   sync.Mutex
	last atomic.Pointer[answer] // written under mu
}

// answer is the immutable result of a request to the issuer.
type answer struct {
	requested time.Time
	err       error // error of the last request
	// The field keys contains the usable keys of the last valid response. set is the JWK Set in the
	// last valid response, and good is the time of that response. Before the first valid response,
	// the fields keys, set and good have their zero values.
	keys []jose.JSONWebKey
	set  []byte
	good time.Time
}

// due reports whether the fetcher is allowed to query the issuer again.
func (a *answer) due(now time.Time) bool {
	if a == nil {
		return true
	}
	pause := fetchEvery
	if a.err != nil {
		pause = retryEvery
	}
	age := now.Sub(a.requested)
	return age < 0 || age >= pause
}

// RoundTrip answers the request of the key set.
func (f *fetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, last := f.now(), f.last.Load()
	if last.due(now) {
		last = f.refreshed(r, last, now)
		f.last.Store(last)
	}
	if last.set == nil || now.Sub(last.good) > maxStale {
		return nil, last.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(last.set)),
	}, nil
}

func (f *fetcher) refreshed(r *http.Request, last *answer, now time.Time) *answer {
	keys, set, err := f.ask(r)
	if err == nil {
		return &answer{requested: now, keys: keys, set: set, good: now}
	}
	if last == nil {
		last = &answer{}
	}
	if last.err == nil {
		f.log.Error("cannot fetch the signing keys of the token issuer", "url", r.URL.Redacted(), "error", err)
	}
	return &answer{requested: now, err: err, keys: last.keys, set: last.set, good: last.good}
}

// probe fetches and stores the keys. If the fetch fails, probe returns the error, but does not
// store or log the error.
func (f *fetcher) probe(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	keys, set, err := f.ask(r)
	if err != nil {
		return err
	}
	now := f.now()
	f.last.Store(&answer{requested: now, keys: keys, set: set, good: now})
	return nil
}

// ask fetches the usable keys. ask does not follow redirects, because a redirect could lead away
// from https.
func (f *fetcher) ask(r *http.Request) ([]jose.JSONWebKey, []byte, error) {
	response, err := f.next.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the issuer responded with status %d", response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxAnswerBytes {
		return nil, nil, fmt.Errorf("the response exceeds %d bytes", maxAnswerBytes)
	}
	keys, err := usableKeys(data)
	if err != nil {
		return nil, nil, err
	}
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	return keys, set, err
}
