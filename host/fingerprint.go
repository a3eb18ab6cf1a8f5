package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// makeFingerprint returns the fingerprint of a request. The fingerprint is stored with the
// idempotency key of the request. The fingerprint contains a digest of each part of the request.
// Each digest has a name. If a part of a later request differs, the fault of the conflict contains
// this name. If two documents differ only in white space or in the order of members, they have the
// same digest. The fingerprint does not include the environment. If a secret in the environment
// changes between a run and its retry, the retry must nevertheless succeed.
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

// mocksPart returns the part of the request that contains its mocks, if any. A repetition of the
// request without mocks must not return a Result that depends on mocks.
func (inv *Invocation) mocksPart() []part {
	mocks := WriteMocks(inv.Mocks, inv.Recalls)
	if mocks == nil {
		return nil
	}
	return []part{{"mocks", mocks}}
}

// part is a part of a request. part contains the name of the part, which the fault of a conflict
// reports.
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
