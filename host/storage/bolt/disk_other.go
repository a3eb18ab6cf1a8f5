//go:build !(darwin || freebsd || linux)

package bolt

import "errors"

// diskSpace returns an error, because it is not supported on this system. Callers then assume that
// there is free space.
func diskSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
