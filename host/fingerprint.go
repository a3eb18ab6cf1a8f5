package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// makeFingerprint tells one run from another for an idempotency key: a digest for each part of what was asked, by the names
// that a conflict gives. Documents that differ only in white space or in the order of members are the same. The environment
// is no part: it holds secrets, and one that was exchanged between a run and its retry must not make the retry fail.
func (r *run) makeFingerprint() string {
	if r.inv.Key == "" {
		return ""
	}
	var code, grants []byte
	if c := r.inv.Code; c != nil {
		code = []byte(c.Language + " " + c.Text)
		grants, _ = json.Marshal(c.Grants) // strings are always JSON
	}
	parts := []struct {
		name string
		text []byte
	}{
		{"tool", []byte(r.inv.Tool)}, {"code", code}, {"grants", grants},
		{"input", r.limits.canonical(r.input)}, {"context", r.limits.canonical(r.inv.Context)}, {"metadata", r.limits.canonical(r.inv.Metadata)},
	}
	words := make([]string, len(parts))
	for i, part := range parts {
		digest := sha256.Sum256(part.text)
		words[i] = part.name + "=" + hex.EncodeToString(digest[:16])
	}
	return strings.Join(words, " ")
}
