//go:build !(darwin || freebsd || linux)

package bolt

import "errors"

// diskSpace is not supported on this system and returns an error. After this error, callers assume
// that enough space is free.
func diskSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
