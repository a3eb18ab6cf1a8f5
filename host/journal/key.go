package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Request describes an external call that an attempt needs.
type Request struct {
	// Kind is the kind of the external call, such as "chat". Target identifies the receiver: the
	// name of a model, or a host name.
	Kind, Target string
	// Body is the canonical request: equal requests have equal bytes. The journal keeps only the
	// digest of Body.
	Body []byte
	// Safe is true if the call has no effects, so that it can be cancelled. If Safe is false, the
	// journal waits for the call and records its result.
	Safe bool
}

// Key identifies a call within a run.
type Key struct {
	Kind, Target string
	// Digest is the SHA-256 of the canonical request.
	Digest [sha256.Size]byte
	// N is the number of this call among the equal calls of its attempt, starting at 1.
	N int
}

// Idempotency returns the value of the header Idempotency-Key for the call: a hash of the run's key
// and the journal's key, in hexadecimal. The value is the same in every attempt and after a
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

// writeText writes the length of a text and then the text. If the length were omitted, different
// pairs of adjacent texts could look the same.
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
