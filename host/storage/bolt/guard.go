package bolt

import (
	"fmt"
	"runtime/debug"

	"github.com/toolrun/toolrun/host/storage"
)

// guard runs fn, which reads the mapped file, and makes an error of a panic or of a memory fault in it: bbolt
// panics over pages that make no sense, and reading a mapping faults where the disk fails or the file was
// truncated under it.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: a page of the file cannot be read or makes no sense: %v", storage.ErrCorrupt, p)
		}
	}()
	return fn()
}
