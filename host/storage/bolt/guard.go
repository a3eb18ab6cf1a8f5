package bolt

import (
	"fmt"
	"runtime/debug"

	"github.com/toolrun/toolrun/host/storage"
)

// guard calls fn, and converts a panic or a memory fault in fn into an error. The function fn reads
// the mapped file. If a page is invalid, bbolt panics. If the disk fails or the file has been
// truncated, reads of the mapped file cause a memory fault.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: a page is unreadable or malformed: %v", storage.ErrCorrupt, p)
		}
	}()
	return fn()
}
