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

// keySource checks signatures with the issuer's keys.
type keySource interface {
	// verify returns what a token says if the key of that id signed it, which must be for the algorithm of the token. The
	// error is Invalid, errUnknownKey if there is no key of that id, or abi.Unavailable.
	verify(ctx context.Context, token string, by signer, now time.Time) ([]byte, error)
}

// errUnknownKey says that an issuer has no key of an id.
var errUnknownKey = errors.New("the issuer has no key of this kid")

// signer is what the header of a token says of its signature.
type signer struct{ kid, alg string }

// mayBe reports whether a key may have made the signature. One key is for one algorithm (RFC 8725, section 3.1): a JWK
// that names it verifies no other.
func (by signer) matches(key jose.JSONWebKey) bool {
	return key.KeyID == by.kid && (key.Algorithm == "" || key.Algorithm == by.alg)
}

// keysOf returns the keys that may have made a signature.
func (by signer) keysOf(keys []jose.JSONWebKey) *oidc.StaticKeySet {
	set := &oidc.StaticKeySet{}
	for _, key := range keys {
		if by.matches(key) {
			set.PublicKeys = append(set.PublicKeys, key.Key)
		}
	}
	return set
}

// refusal says why none of some keys verified the signature.
func (by signer) rejection(keys []jose.JSONWebKey) error {
	if slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool { return key.KeyID == by.kid }) {
		return Invalid
	}
	return errUnknownKey
}

// usableKeys reads a JWK Set (RFC 7517) and returns the keys in it that may verify tokens. Others are passed over, as
// section 5 asks: sets hold keys for encryption, and kinds that are not known yet.
func usableKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("it is not a JWK Set")
	}
	var keys []jose.JSONWebKey
	for _, text := range set.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(text, &key); err == nil && usable(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("it holds no public key for signatures that has a kid")
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

// keysInFile are an issuer's keys in a file, which is read again when it changed.
type fileKeys struct {
	file *watchedFile[[]jose.JSONWebKey]
	log  *slog.Logger
}

func openFileKeys(path string, log *slog.Logger) (*fileKeys, error) {
	// Anybody may read public keys, but who may write them may make tokens.
	s := &fileKeys{&watchedFile[[]jose.JSONWebKey]{path: path, forbidden: 0o002, decode: usableKeys}, log}
	var err error
	if s.file.value, s.file.info, err = s.file.read(); err != nil {
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
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
	// renewEvery is how long a key stays in use that its issuer took back.
	refreshEvery = 15 * time.Minute
	// goodFor is how long known keys stay in use while the issuer does not answer.
	maxStale = 24 * time.Hour
	// askEvery and retryEvery bound how often an issuer is asked, whatever tokens strangers make up: after an answer,
	// and after none.
	fetchEvery = 10 * time.Second
	retryEvery = time.Second
	// askTimeout and maxAnswerBytes bound one answer.
	fetchTimeout   = 5 * time.Second
	maxAnswerBytes = 1 << 20
)

// keysAtURL are an issuer's keys behind an address. The key set of go-oidc asks for them when it meets a key that it does
// not know; it never forgets one, so it is made anew from time to time.
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
	// Where the issuer does not answer it is unknown whether the token is good.
	last := s.fetcher.last.Load()
	if ctx.Err() != nil || last == nil || last.err != nil {
		return nil, abi.Faultf(abi.Unavailable, "the keys of the token's issuer cannot be had").WithHint("try again in a moment")
	}
	return nil, by.rejection(last.keys)
}

// hold refuses a token whose key the issuer's last answer has for another algorithm. The key set of go-oidc does not look
// at that. Where one id is that of several keys, those for the token's algorithm have to verify it.
func (s *remoteKeys) checkAlgorithm(ctx context.Context, token string, by signer) error {
	last := s.fetcher.last.Load()
	if last == nil {
		return nil // never: the key set asked through the fetcher
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

// fetcher stands between the key set and the issuer: it bounds answers, passes on no key that may not be used, and gives
// the last answer again where the issuer was asked just now or does not answer.
type fetcher struct {
	next http.RoundTripper
	now  func() time.Time
	log  *slog.Logger

	mu   sync.Mutex
	last atomic.Pointer[answer] // written under mu
}

// answer is what came of asking the issuer. It is not changed.
type answer struct {
	asked time.Time
	err   error // of the last time
	// keys is what the last good answer had that may be used, set its text, and good its time; nil for none.
	keys []jose.JSONWebKey
	set  []byte
	good time.Time
}

// due reports whether the issuer may be asked again.
func (a *answer) due(now time.Time) bool {
	if a == nil {
		return true
	}
	pause := fetchEvery
	if a.err != nil {
		pause = retryEvery
	}
	age := now.Sub(a.asked)
	return age < 0 || age >= pause
}

// RoundTrip answers the key set's request.
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
		return &answer{asked: now, keys: keys, set: set, good: now}
	}
	if last == nil {
		last = &answer{}
	}
	if last.err == nil {
		f.log.Error("the keys of the token issuer cannot be had", "url", r.URL.Redacted(), "error", err)
	}
	return &answer{asked: now, err: err, keys: last.keys, set: last.set, good: last.good}
}

// probe asks the issuer, and keeps what it answers. An error is returned and neither kept nor logged.
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
	f.last.Store(&answer{asked: now, keys: keys, set: set, good: now})
	return nil
}

// ask gets the keys that may be used. It follows no redirect, which could lead off https.
func (f *fetcher) ask(r *http.Request) ([]jose.JSONWebKey, []byte, error) {
	response, err := f.next.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the issuer answered with status %d", response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxAnswerBytes {
		return nil, nil, fmt.Errorf("the answer is larger than %d bytes", maxAnswerBytes)
	}
	keys, err := usableKeys(data)
	if err != nil {
		return nil, nil, err
	}
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	return keys, set, err
}
