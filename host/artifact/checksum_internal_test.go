package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/toolrun/toolrun/internal/yield"
)

func TestChecksum(t *testing.T) {
	for _, size := range []int{0, 1, yield.Bytes - 1, yield.Bytes, yield.Bytes + 1, 3*yield.Bytes + 7} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i * 31)
		}
		want := sha256.Sum256(content)
		if got := checksum(content); got != hex.EncodeToString(want[:]) {
			t.Errorf("checksum of %d bytes = %s; want %x", size, got, want)
		}
	}
}
