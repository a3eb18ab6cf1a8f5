package bolt

import (
	"math/bits"
	"os"
	"runtime"

	"go.etcd.io/bbolt"
)

// The constant "reserved" is the minimum size of the address space for a file's mapping. A mapping
// has at least twice the size of the file.
//
// If a file outgrows its mapping, bbolt maps the file again, and first waits until all readers have
// finished. Without reserved address space, one backup or long scan would therefore delay all
// commits. Unused address space costs nothing.
const reserved = 64 << 30

// openReserved is like openFile, but maps more address space than the file needs.
func openReserved(path string, o bbolt.Options) (file, error) {
	if bits.UintSize == 64 && runtime.GOOS != "windows" { // on Windows, a mapping extends the file
		larger := o
		larger.InitialMmapSize = reserved
		if info, err := os.Stat(path); err == nil {
			larger.InitialMmapSize = int(max(reserved, 2*info.Size()))
		}
		if f, err := openFile(path, larger); err == nil || !noMemory(err) {
			return f, err
		}
	}
	return openFile(path, o) // the address space is limited
}

// The function "growth" returns the number of bytes by which a full file of the given size grows.
// bbolt's own default for a large mapping is 16 MiB, even for the smallest file.
func growth(size int64) int {
	const minimum, maximum = 32 << 10, 16 << 20
	return int(min(max(size/4, minimum), maximum))
}
