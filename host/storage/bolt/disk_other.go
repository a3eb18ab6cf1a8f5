//go:build !(darwin || freebsd || linux)

package bolt

import "errors"

// diskSpace is not known here: there is always room.
func diskSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
