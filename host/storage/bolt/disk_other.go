//go:build !(darwin || freebsd || linux)

package bolt

import "errors"

// diskSpace is not supported on this system. Callers assume that there is room.
func diskSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
