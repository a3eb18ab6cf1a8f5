package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Request describes an external call that an attempt needs.
type Request struct {
	// Kind is the kind of the external call, such as "chat". Target identifies the receiver of the
	// call. Target is the name of a model, or a host name.
	Kind, Target string
	// Body is the canonical form of the request. Equal requests have the same Body. The journal
	// keeps only the digest of Body.
	Body []byte
	// Safe is true if the call has no effects. Such a call can be cancelled. If Safe is false, the
	// journal never cancels the call and always records the call's result.
	Safe bool
}

// Key identifies a call within a run.
type Key struct {
	Kind, Target string
	// Digest is the SHA-256 hash of the canonical request.
	Digest [sha256.Size]byte
	// N is the number of this call among the equal calls of an attempt. Numbers start at 1.
	N int
}

// Idempotency returns the value of the header Idempotency-Key for the call. The value is a hash of
// runKey and of the Key, in hexadecimal digits. The value is the same in every attempt and after a
// restart.
func (k Key) Idempotency(runKey string) string {
	h := sha256.New()
	writeText(h, runKey)
	writeText(h, k.Kind)
	writeText(h, k.Target)
	h.Write(k.Digest[:])
	writeLength(h, k.N)
	return hex.EncodeToString(h.Sum(nil))
}

// writeText writes the length of a text and then the text. Without the lengths, two different pairs
// of texts could produce the same bytes.
func writeText(h hash.Hash, text string) {
	writeLength(h, len(text))
	h.Write([]byte(text))
}

func writeLength(h hash.Hash, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

func (r Request) key() Key {
	return Key{Kind: r.Kind, Target: r.Target, Digest: sha256.Sum256(r.Body)}
}
