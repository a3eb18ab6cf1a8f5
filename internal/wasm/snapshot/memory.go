package snapshot

import (
	"os"

	"github.com/tetratelabs/wazero/experimental"
)

var _ experimental.LinearMemory = (*memory)(nil)

// pageSize is the page size of the system in bytes. The size of a WebAssembly page is a multiple of
// pageSize.
var pageSize = os.Getpagesize()

func roundUp(n int) int { return (n + pageSize - 1) / pageSize * pageSize }

// usedLength returns the length of image without its trailing zeros.
func usedLength(image []byte) int {
	n := len(image)
	for n >= 8 && [8]byte(image[n-8:n]) == [8]byte{} {
		n -= 8
	}
	for n > 0 && image[n-1] == 0 {
		n--
	}
	return n
}
