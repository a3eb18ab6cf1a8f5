//go:build !(darwin || freebsd || linux)

package bolt

import "errors"

// diskSpace returns an error, because it is not supported on this system. Callers treat this error
// as free space.
func diskSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
