package bolt

import (
	"math/bits"
	"os"
	"runtime"

	"go.etcd.io/bbolt"
)

// reserved is how much address space the mapping of a file takes at least, or twice the file's size. bbolt maps a file anew if it
// outgrows its mapping, and waits for all who read to end before it does: without room to grow, one backup or one long
// scan would hold up the commits of everybody. Address space costs nothing until something lies in it.
const reserved = 64 << 30

// openReserved is openFile with a mapping that the file can grow into.
func openReserved(path string, o bbolt.Options) (file, error) {
	if bits.UintSize == 64 && runtime.GOOS != "windows" { // where a mapping makes the file as large
		larger := o
		larger.InitialMmapSize = reserved
		if info, err := os.Stat(path); err == nil {
			larger.InitialMmapSize = int(max(reserved, 2*info.Size()))
		}
		if f, err := openFile(path, larger); err == nil || !noMemory(err) {
			return f, err
		}
	}
	return openFile(path, o) // where a process may have less
}

// growth returns by how much a file of some size grows when it has to: bbolt would take 16 MiB for the smallest as
// well, now that its mapping is large.
func growth(size int64) int {
	const least, most = 32 << 10, 16 << 20
	return int(min(max(size/4, least), most))
}
