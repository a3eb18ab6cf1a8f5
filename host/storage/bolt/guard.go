package bolt

import (
	"fmt"
	"runtime/debug"

	"github.com/toolrun/toolrun/host/storage"
)

// guard runs fn, which reads the mapped file, and converts a panic or a memory fault into an error.
// bbolt panics if a page is invalid. Reads of the mapping cause a memory fault if the disk fails or
// the file has been truncated.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: a page is unreadable or malformed: %v", storage.ErrCorrupt, p)
		}
	}()
	return fn()
}
