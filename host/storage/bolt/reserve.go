package bolt

import (
	"math/bits"
	"os"
	"runtime"

	"go.etcd.io/bbolt"
)

// reserved is the minimum size of the address space that is reserved for the mapping of a file. A
// mapping has at least twice the size of the file.
//
// If a file outgrows its mapping, bbolt waits until all readers have finished, and then maps the
// file again. Without reserved address space, one backup or long scan would therefore delay all
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
	return openFile(path, o) // the process has too little address space
}

// growth returns the number of bytes by which a full file of the given size must grow. In a large
// mapping, bbolt would enlarge even a small file by 16 MiB.
func growth(size int64) int {
	const minimum, maximum = 32 << 10, 16 << 20
	return int(min(max(size/4, minimum), maximum))
}
