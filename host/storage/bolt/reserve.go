package bolt

import (
	"math/bits"
	"os"
	"runtime"

	"go.etcd.io/bbolt"
)

// reserved is the minimum address space of a file's mapping; a mapping has at least twice the
// file's size. When a file outgrows its mapping, bbolt maps it again, and waits for all readers to
// end first: without room to grow, one backup or long scan would delay everyone's commits. Unused
// address space costs nothing.
const reserved = 64 << 30

// openReserved is openFile with a mapping that the file can grow into.
func openReserved(path string, o bbolt.Options) (file, error) {
	if bits.UintSize == 64 && runtime.GOOS != "windows" { // on Windows a mapping extends the file
		larger := o
		larger.InitialMmapSize = reserved
		if info, err := os.Stat(path); err == nil {
			larger.InitialMmapSize = int(max(reserved, 2*info.Size()))
		}
		if f, err := openFile(path, larger); err == nil || !noMemory(err) {
			return f, err
		}
	}
	return openFile(path, o) // a system that limits address space
}

// growth returns the number of bytes by which a file of this size grows when it is full. bbolt's
// own default for a large mapping is 16 MiB, even for the smallest file.
func growth(size int64) int {
	const minimum, maximum = 32 << 10, 16 << 20
	return int(min(max(size/4, minimum), maximum))
}
