package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// makeFingerprint returns the fingerprint that is stored with an idempotency key. The fingerprint
// contains a digest of each part of the request. Each digest has the name that the fault of a
// conflict reports for the part. Documents that differ only in white space or member order have the
// same digest. The fingerprint does not include the environment. A secret in the environment can
// change between a run and its retry, and the retry must still succeed.
func (r *run) makeFingerprint() string {
	if r.inv.Key == "" {
		return ""
	}
	var code, grants []byte
	if c := r.inv.Code; c != nil {
		code = []byte(c.Language + " " + c.Text)
		grants, _ = json.Marshal(c.Grants) // strings always encode
	}
	return fingerprint(append([]part{
		{"tool", []byte(r.inv.Tool)}, {"agent", []byte(r.inv.Caller.Agent)}, {"code", code}, {"grants", grants},
		{"input", r.limits.canonical(r.input)}, {"context", r.limits.canonical(r.inv.Context)}, {"metadata", r.limits.canonical(r.inv.Metadata)},
	}, r.inv.mocksPart()...))
}

// mocksPart returns the part of a request that contains its mocks, if it has any. Without mocks, a
// repeated request must not return a Result that depends on mocks.
func (inv *Invocation) mocksPart() []part {
	mocks := WriteMocks(inv.Mocks, inv.Recalls)
	if mocks == nil {
		return nil
	}
	return []part{{"mocks", mocks}}
}

// part is a part of a request, with the name that the fault of a conflict reports.
type part struct {
	name string
	text []byte
}

// fingerprint returns a fingerprint with a digest of each part.
func fingerprint(parts []part) string {
	words := make([]string, len(parts))
	for i, part := range parts {
		digest := sha256.Sum256(part.text)
		words[i] = part.name + "=" + hex.EncodeToString(digest[:16])
	}
	return strings.Join(words, " ")
}
