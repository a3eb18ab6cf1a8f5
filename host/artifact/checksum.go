package artifact

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolrun/toolrun/internal/yield"
)

// checksum returns the SHA-256 digest of a content, in hexadecimal digits. After each chunk of the
// content, other goroutines can run.
func checksum(content []byte) string {
	h := sha256.New()
	for len(content) > yield.Bytes {
		_, _ = h.Write(content[:yield.Bytes]) // never fails
		content = content[yield.Bytes:]
		yield.Now()
	}
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
